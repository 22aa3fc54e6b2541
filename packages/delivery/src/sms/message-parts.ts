/**
 * Computes in how many parts a text message is sent. If all characters are in GSM 03.38, a single part has 160
 * characters, and each of several parts has 153. With any other character the text is sent as UCS-2: 70 characters in a
 * single part, 67 in each of several parts.
 */

/** The basic alphabet of GSM 03.38, without its escape. */
const BASIC = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
)
/** Characters that count as two. */
const EXTENSION = new Set('^{}\\[~]|€\f')

export function smsParts(text: string): number {
  const septets = septetsOf(text)
  if (septets !== undefined) return septets <= 160 ? 1 : Math.ceil(septets / 153)
  return text.length <= 70 ? 1 : Math.ceil(text.length / 67)
}

/** The length of the text in GSM 03.38. Undefined: the text has other characters. */
function septetsOf(text: string): number | undefined {
  let septets = 0
  for (const character of text) {
    if (BASIC.has(character)) septets++
    else if (EXTENSION.has(character)) septets += 2
    else return undefined
  }
  return septets
}
