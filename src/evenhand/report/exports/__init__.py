"""A report in formats that other programs take: one file a format.

``export(material, format)`` is all that a command needs. ``FORMATS`` names the formats; those in ``FOLDER_FORMATS``
come to several files, which go into a folder, and any other to one file.
"""

from evenhand.report.exports.export import FOLDER_FORMATS, FORMATS, export
from evenhand.report.exports.material import AuditPart, ExportFile, Material

__all__ = ["FOLDER_FORMATS", "FORMATS", "AuditPart", "ExportFile", "Material", "export"]
