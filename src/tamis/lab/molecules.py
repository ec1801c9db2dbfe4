"""Molecules, by RDKit (the extra `tamis[chem]`): canonical SMILES and descriptors. The only file that imports RDKit."""

from collections.abc import Sequence
from functools import cache
from types import ModuleType

import numpy as np

from tamis.errors import BriefError
from tamis.lab.gp import Floats

FINGERPRINT_BITS = 512
RADIUS = 2


@cache
def _rdkit() -> ModuleType:
    try:
        from rdkit import Chem, rdBase  # noqa: PLC0415  (an extra)
    except ImportError as error:
        raise BriefError(
            "a field of molecules (smiles = ...) needs RDKit, which is not installed",
            hint="pip install 'tamis[chem]', or declare the column as category = [...]",
        ) from error
    rdBase.DisableLog("rdApp.*")  # its complaints go to stderr by the thousand; ours name the row instead
    return Chem


def canonical_smiles(text: str) -> str | None:
    """The one way in which RDKit writes this molecule, None where it can't read it."""
    molecule = _rdkit().MolFromSmiles(text)
    return None if molecule is None or molecule.GetNumAtoms() == 0 else str(_rdkit().MolToSmiles(molecule))


def described(smiles: Sequence[str]) -> Floats:
    """(n, d): RDKit's descriptors and counts of Morgan fragments (radius 2), each half with the same total spread.
    Descriptors grow without bound in some molecules, so their logarithm is taken and each has unit variance."""
    from rdkit.Chem import Descriptors, rdFingerprintGenerator  # noqa: PLC0415  (an extra)

    molecules = [_rdkit().MolFromSmiles(one) for one in smiles]
    fragments = rdFingerprintGenerator.GetMorganGenerator(radius=RADIUS, fpSize=FINGERPRINT_BITS)
    counts = np.array([fragments.GetCountFingerprintAsNumPy(one) for one in molecules], dtype=float)
    raw = np.array([[_number(f, one) for _, f in Descriptors.descList] for one in molecules], dtype=float)
    raw = np.sign(raw) * np.log1p(np.abs(raw))
    centred = raw - raw.mean(axis=0)
    spread = centred.std(axis=0)
    centred = centred[:, spread > 1e-9] / spread[spread > 1e-9]
    return np.hstack([_unit(centred), _unit(counts - counts.mean(axis=0)) * FRAGMENTS_WEIGHT])


FRAGMENTS_WEIGHT = 0.5
"""Fragments say whether two molecules share parts; with few molecules descriptors say more."""


def _number(descriptor: object, molecule: object) -> float:
    value = float(descriptor(molecule))  # type: ignore[operator]  # RDKit has no types
    return value if np.isfinite(value) else 0.0


def _unit(block: Floats) -> Floats:
    size = float(np.sqrt((block**2).sum(axis=1).mean())) if block.size else 0.0
    return block / size if size > 0 else block
