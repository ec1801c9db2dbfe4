from tamis.ledger.ledger import FILE, FOLDER, Ledger

__all__ = ["FILE", "FOLDER", "Ledger"]
