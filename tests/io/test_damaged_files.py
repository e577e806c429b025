"""Damaged binary files: each is refused by lscfg's own error or can be used; nothing hangs or asks for gigabytes."""

from random import Random

import pytest
from binary_files import attack, kinds
from mutations import join_file, mutate_arrays, mutations, split_file

FILES = {
    "derivations": 150,
    "compressed derivations": 40,
    "models": 250,
    "compressed models": 60,
    "checkpoint.neural": 20,
    "checkpoint.em": 120,
    "best.em": 120,
}


@pytest.fixture(scope="module")
def all_kinds(tmp_path_factory):
    return kinds(tmp_path_factory.mktemp("seeds"))


def test_every_kind_is_damaged(all_kinds):
    assert all_kinds.keys() == FILES.keys()


@pytest.mark.parametrize("name", FILES)
def test_seeds_can_be_used(name, all_kinds, tmp_path):
    kind = all_kinds[name]
    for seed in kind.seeds if not kind.name.endswith(".gz") else ():
        for other, content in (kind.beside | {kind.name: seed}).items():
            (tmp_path / other).write_bytes(content)
        kind.use(tmp_path / kind.name)


@pytest.mark.parametrize("name", FILES)
def test_damaged_files(name, all_kinds, tmp_path):
    found = attack(all_kinds[name], FILES[name], Random(1), tmp_path)
    assert found.outcomes["refused"] > FILES[name] / 3
    assert found.outcomes["used"] > 0
    assert sum(found.outcomes.values()) == FILES[name]


def test_damage_repeats_and_its_parts_make_the_file(all_kinds):
    seed = all_kinds["derivations"].seeds[0]
    whole = split_file(seed)
    assert split_file(join_file(*whole)) == whole
    for mutate in (mutations, mutate_arrays):
        assert mutate(seed, Random(7)) == mutate(seed, Random(7)) != seed
