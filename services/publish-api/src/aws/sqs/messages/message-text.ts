/** Characters that SQS takes: those of XML 1.0. */

export const ALLOWED_CHARACTERS = '#x9 | #xA | #xD | [#x20-#xD7FF] | [#xE000-#xFFFD] | [#x10000-#x10FFFF]'

const REFUSED = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u

/** The first character of a text that cannot be sent, as `#x1F`; undefined if there is none. */
export function refusedCharacter(text: string): string | undefined {
  const [character] = REFUSED.exec(text) ?? []
  return character === undefined ? undefined : `#x${character.codePointAt(0)?.toString(16).toUpperCase()}`
}
