/** Characters that SQS accepts: those of XML 1.0. */

export const ALLOWED_CHARACTERS = '#x9 | #xA | #xD | [#x20-#xD7FF] | [#xE000-#xFFFD] | [#x10000-#x10FFFF]'

const REFUSED = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u

/** The first character of the text that is not accepted, as `#x1F`. undefined: all are. */
export function refusedCharacter(text: string): string | undefined {
  const [character] = REFUSED.exec(text) ?? []
  return character === undefined ? undefined : `#x${character.codePointAt(0)?.toString(16).toUpperCase()}`
}
