"""Moses' n-best lists."""

import pytest
from nbest import write_nbest

from lscfg.errors import InputError
from lscfg.formats.kbest import Hypothesis
from lscfg.moses_bridge.nbest import read_nbest

LINE = "0 ||| the house ||| LM0= -12.5 WordPenalty0= -2 TM= -1 -0.5 -3 PhrasePenalty0= 1 ||| -7.25 ||| 0-0\n"


def test_moses_nbest_there_and_back(tmp_path):
    (tmp_path / "n").write_text(LINE)
    lists = read_nbest(tmp_path / "n")
    features = {"LM0": -12.5, "WordPenalty0": -2, "TM_0": -1, "TM_1": -0.5, "TM_2": -3, "PhrasePenalty0": 1}
    assert lists == {0: [Hypothesis("the house", features, -7.25)]}
    write_nbest(tmp_path / "again", [lists[0]])
    assert (tmp_path / "again").read_text() == LINE.replace(" ||| 0-0", "")


def test_a_list_cut_in_a_number_is_refused(tmp_path):
    (tmp_path / "n").write_text(LINE + "0 ||| a ||| LM= -1 ||| -12.7")
    with pytest.raises(InputError, match="n:2: "):
        read_nbest(tmp_path / "n")


@pytest.mark.parametrize("line", ["0 ||| a ||| 1 ||| 2", "0 ||| a ||| N= ||| 2", "0 ||| a ||| N= nan ||| 2", "0 ||| a"])
def test_malformed_moses_nbest(tmp_path, line):
    (tmp_path / "n").write_text(f"{LINE}{line}\n")
    with pytest.raises(InputError, match="n:2: "):
        read_nbest(tmp_path / "n")
