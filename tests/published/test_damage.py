"""Damaged headers and members of every kind are read or refused with a sentence and a remedy; nothing else ever comes out."""

import random
import shutil
import zipfile

import pytest

from phexplore.errors import PhexploreError
from phexplore.published.door import read_files

HEAD = 4_000
SAMPLES = (
    "nhgis/made/nhgis_ppdd_20200527_county.csv",
    "nhgis/made/nhgis_ppdd_20210428_12-2_block_RI.zip",
    "pl94/made_ri2010.pl/rigeo2010.pl",
    "pl94/made_ri2010.pl/ri000012010.pl",
    "baf/BlockAssign_ST44_RI_CD.txt",
    "ppmf/made/2020_ppmf_person_44.csv",
    "ppmf/made/2020_ppmf_unit_44.csv",
    "ppmf/made/2020_ppmf_bystate.zip",
    "ppmf/made/ppmf_20200917u_made.csv",
    "amc/jupyter_data.csv",
    "gls/us/Tract/State=01/County=001/Tract=020100/part-00000-real-3-rows.csv",
    "sdhc/phsafe_output_test2/PH2.csv",
    "sdhc/made/DECENNIALSDHC2020.PH1-Data.csv",
    "sdhc/made/api_sdhc_PH1.json",
    "nmf/made_2020-pl94-nmf-parquets/US_Unit_PL_PROD/State.parquet/DPQuery/State=044/part-00000-made.snappy.parquet",
    "tiger/made_from_tl_2010_51013_tabblock10.gpkg",
    "tiger/tl_2023_44_tract.shp",
    "registry/census_supplemental_demographic_and_housing.yaml",
)
WHOLE = {".gpkg", ".zip", ".parquet"}
"""Whose ends count; of the others the beginning is enough."""


@pytest.fixture(scope="module")
def samples(real_data, tmp_path_factory):
    """The bytes that are damaged, with the suffix of their file and the files that lie beside it."""
    source = real_data / "published"
    folder = tmp_path_factory.mktemp("shapes")
    with zipfile.ZipFile(source / "tiger" / "tl_2023_44_tract.zip") as archive:
        archive.extractall(folder)
    found = []
    for name in SAMPLES:
        path = folder / "tl_2023_44_tract.shp" if name.endswith("tract.shp") else source / name
        content = path.read_bytes()
        beside = [other for other in path.parent.iterdir() if other != path and other.suffix in {".pl", ".dbf"}]
        kept = (
            content
            if path.suffix in WHOLE or "made_ri2010" in name
            else content[: content.rfind(b"\n", 0, HEAD) + 1] or content[:HEAD]
        )
        found.append((path.name, kept, beside))
    long = "gisjoin,name_dp,var_code,dp,name_sf,sf\r\nG4400070,A,H72001,3,A,4\r\nG4400070,A,H73001,3,A,4\r\n"
    return [*found, ("nhgis_ppdd_20200527_county.csv", long.encode(), [])]


def damaged(content, rng):
    """Return bytes with one to four changes: flipped, cut out, doubled, overwritten, or cut off."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(max(1, min(len(content), 600) if rng.random() < 0.5 else len(content)))
        length = rng.randint(1, 40)
        change = rng.randrange(6)
        if change == 0:
            content = (
                content[:at]
                + bytes([content[at] ^ (1 << rng.randrange(8))] if at < len(content) else [])
                + content[at + 1 :]
            )
        elif change == 1:
            content = content[:at] + content[at + length :]
        elif change == 2:
            content = content[:at] + content[at : at + length] * 2 + content[at + length :]
        elif change == 3:
            content = content[:at] + rng.randbytes(length) + content[at + length :]
        elif change == 4:
            content = content[:at]
        else:
            filler = rng.choice(
                [b"\0", b"\xff", b'"', b",", b"|", b"\n", b"9999999999999999999", b"-1", b"\xc3\x28", b"&a *a "]
            )
            content = content[:at] + filler + content[at:]
    return content


def attack(samples, folder, numbers):
    """Read damaged samples and return what was raised beside expected failures."""
    surprises = []
    for number in numbers:
        rng = random.Random(number)
        name, content, beside = samples[number % len(samples)]
        place = folder / str(number)
        place.mkdir()
        for other in beside:
            shutil.copy(other, place)
        broken = damaged(content, rng)
        path = place / name
        if rng.random() < 0.25:
            path = place / "packed.zip"
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr(name, broken)
            if rng.random() < 0.5:
                path.write_bytes(damaged(path.read_bytes(), rng))
        else:
            path.write_bytes(broken)
        try:
            read_files(place if beside else path)
        except PhexploreError as error:
            if not error.sentence.strip() or not error.remedy.strip():
                surprises.append((number, name, "no sentence or no remedy"))
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            surprises.append((number, name, repr(error)[:200]))
        shutil.rmtree(place)
    return surprises


def test_that_damaged_files_are_read_or_refused(samples, tmp_path):
    assert attack(samples, tmp_path, range(180)) == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_that_ten_thousand_damaged_files_are_read_or_refused(samples, tmp_path):
    assert attack(samples, tmp_path, range(10_000)) == []
