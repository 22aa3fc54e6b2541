/** Makes names of files. Every name that contains what others have written is made here. */

/** Name of a recorded request's file. Past it: the name is cut. File systems allow 255 bytes. */
const FILE_NAME_CHARS_MAX = 200

/** The parts with hyphens between them. Characters that could name another folder or a hidden file become hyphens. */
export function fileNameOf(parts: (string | number)[], ending: string): string {
  const name =
    parts
      .join('-')
      .replace(/[^A-Za-z0-9._-]/g, '-')
      .replace(/^[.-]+/, '') || 'unnamed'
  return name.slice(0, FILE_NAME_CHARS_MAX) + ending
}
