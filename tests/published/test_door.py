"""Published files are recognised by what is in them, wherever they lie."""

import gzip
import shutil
import zipfile
from pathlib import Path

import pytest

from phexplore.errors import PhexploreError
from phexplore.published.door import recognise

KINDS = {
    "nhgis/made/nhgis_ppdd_20200527_tract.csv": "nhgis-demonstration",
    "nhgis/made/nhgis_ppdd_20210428_12-2_block_RI.zip": "nhgis-demonstration",
    "nhgis/header_only_nhgis_ppdd_20200723_county_KY.csv": "nhgis-demonstration",
    "pl94/ri2018_2020Style.pl": "pl94-legacy",
    "pl94/ri2018_2020Style.pl.zip": "pl94-legacy",
    "pl94/made_ri2010.pl": "pl94-legacy",
    "baf/BlockAssign_ST44_RI.zip": "block-assignment",
    "ppmf/made/2020_ppmf_person_44.csv": "ppmf-persons",
    "ppmf/made/2020_ppmf_unit_44.csv": "ppmf-units",
    "ppmf/made/2020_ppmf_bystate.zip": "ppmf-persons",
    "ppmf/made/ppmf_20200917u_made.csv": "ppmf-units",
    "nmf/made_2020-pl94-nmf-parquets": "noisy-measurements",
    "nmf/made_2020-pl94-nmf-parquets.zip": "noisy-measurements",
    "nmf/made_2020-dhc-nmf": "noisy-measurements",
    "amc/jupyter_data.csv": "amc-replicates",
    "gls": "gls-estimates",
    "sdhc/phsafe_output_test2": "sdhc-published",
    "sdhc/made/DECENNIALSDHC2020.PH1-Data.csv": "sdhc-published",
    "sdhc/made/api_sdhc_PH1.json": "sdhc-published",
    "tiger/tl_2010_51013_tabblock10.zip": "tiger-shapes",
    "tiger/made_from_tl_2010_51013_tabblock10.gpkg": "geopackage",
    "registry/census_redistricting_data.yaml": "deployments-registry",
}


@pytest.mark.parametrize(("sample", "kind"), KINDS.items())
def test_that_every_sample_is_recognised(real_data, sample, kind):
    assert recognise(real_data / "published" / sample).kind == kind


@pytest.mark.parametrize("sample", [name for name in KINDS if Path(name).suffix in {".csv", ".json", ".yaml"}])
@pytest.mark.parametrize("packed", ["plain", "gzip", "zip", "gzip in a zip"])
def test_that_neither_its_name_nor_its_packing_matters(real_data, sample, packed, tmp_path):
    content = (real_data / "published" / sample).read_bytes()
    file = tmp_path / "unnamed"
    inner = gzip.compress(content) if "gzip" in packed else content
    if "zip" in packed.split():
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("folder/of/something.bin", inner)
            archive.writestr("__MACOSX/folder/of/._something.bin", b"\0\5\x16\7")
    else:
        file.write_bytes(inner)
    assert recognise(file).kind == KINDS[sample]


def test_that_units_stand_beside_persons_and_several_files_are_one(real_data):
    made = real_data / "published" / "ppmf" / "made"
    found = recognise(made / "2020_ppmf_person_44.csv", made / "2020_ppmf_unit_44.csv")
    assert found.kind == "ppmf-persons"
    assert [group.kind for group in found.beside] == ["ppmf-units"]


def test_that_kinds_that_do_not_belong_together_are_refused(real_data, tmp_path):
    samples = real_data / "published"
    shutil.copy(samples / "amc" / "jupyter_data.csv", tmp_path)
    shutil.copy(samples / "registry" / "census_redistricting_data.yaml", tmp_path)
    with pytest.raises(PhexploreError) as refused:
        recognise(tmp_path)
    assert "jupyter_data.csv" in str(refused.value)


@pytest.mark.parametrize("name", ["../outside.csv", "/etc/outside.csv", "a/../../outside.csv", "a\\..\\outside.csv"])
def test_that_no_member_leads_out_of_its_archive(name, tmp_path):
    file = tmp_path / "a.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, "gisjoin,name,H72001_dp,H72001_sf\n")
    with pytest.raises(PhexploreError):
        recognise(file)


def test_that_what_unpacks_without_end_is_stopped(tmp_path):
    file = tmp_path / "a.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", b"gisjoin,name,H72001_dp,H72001_sf\n" + b"G44,x,1,1\n" * 4_000_000)
    from phexplore.published.door import describe

    with pytest.raises(PhexploreError) as refused:
        describe(recognise(file))
    assert "unpacked" in str(refused.value)


def test_that_other_files_are_none_of_the_kinds(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("fips,pop\n44007,1\n")
    assert recognise(file) is None
