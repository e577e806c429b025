"""Workbooks of a spreadsheet, written without its program."""

import io
import zipfile
from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape


def workbook(rows: Iterable[Sequence[str]]) -> bytes:
    """The smallest file that Excel writes for a sheet of texts."""
    cells = "".join(
        "<row>" + "".join(f'<c t="inlineStr"><is><t>{escape(cell)}</t></is></c>' for cell in row) + "</row>"
        for row in rows
    )
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

    def relationship(kind, target):
        return (
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type="{office}/{kind}"'
            f' Target="{target}"/></Relationships>'
        )

    package = "http://schemas.openxmlformats.org/package/2006"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"/>',
        "_rels/.rels": relationship("officeDocument", "xl/workbook.xml"),
        "xl/_rels/workbook.xml.rels": relationship("worksheet", "worksheets/sheet1.xml"),
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        '<sheet name="A" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{cells}</sheetData></worksheet>',
    }
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return data.getvalue()
