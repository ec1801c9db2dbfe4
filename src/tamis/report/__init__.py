from tamis.report.page import REPORT_FILE, write_report

__all__ = ["REPORT_FILE", "write_report"]
