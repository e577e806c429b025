"""Workbooks of a spreadsheet, written without its program."""

import io
import zipfile
from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape


def workbook(*sheets: Iterable[Sequence[str]]) -> bytes:
    """The smallest file that Excel writes for sheets of texts, named A, B and so on."""
    tables = [
        "".join(
            "<row>" + "".join(f'<c t="inlineStr"><is><t>{escape(cell)}</t></is></c>' for cell in row) + "</row>"
            for row in rows
        )
        for rows in sheets
    ]
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

    def relationships(kind, targets):
        parts = (
            f'<Relationship Id="r{number}" Type="{office}/{kind}" Target="{target}"/>'
            for number, target in enumerate(targets, 1)
        )
        return f'<Relationships xmlns="{package}/relationships">{"".join(parts)}</Relationships>'

    package = "http://schemas.openxmlformats.org/package/2006"
    numbers = range(1, len(sheets) + 1)
    names = "".join(f'<sheet name="{chr(64 + n)}" sheetId="{n}" r:id="r{n}"/>' for n in numbers)
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"/>',
        "_rels/.rels": relationships("officeDocument", ["xl/workbook.xml"]),
        "xl/_rels/workbook.xml.rels": relationships("worksheet", [f"worksheets/sheet{n}.xml" for n in numbers]),
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>{names}</sheets></workbook>',
    }
    for number, cells in zip(numbers, tables, strict=True):
        sheet = f'<worksheet xmlns="{main}"><sheetData>{cells}</sheetData></worksheet>'
        parts[f"xl/worksheets/sheet{number}.xml"] = sheet
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return data.getvalue()
