/**
 * How many parts a text message is sent in. A message of GSM 03.38 characters has 160 of them in one part, 153 in each
 * of several. Any other character makes it UCS-2: 70, or 67.
 */

/** The basic alphabet of GSM 03.38, without its escape. */
const BASIC = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
)
/** Each takes the place of two. */
const EXTENSION = new Set('^{}\\[~]|€\f')

export function smsParts(text: string): number {
  const septets = septetsOf(text)
  if (septets !== undefined) return septets <= 160 ? 1 : Math.ceil(septets / 153)
  return text.length <= 70 ? 1 : Math.ceil(text.length / 67)
}

/** Undefined: the text has characters beyond GSM 03.38. */
function septetsOf(text: string): number | undefined {
  let septets = 0
  for (const character of text) {
    if (BASIC.has(character)) septets++
    else if (EXTENSION.has(character)) septets += 2
    else return undefined
  }
  return septets
}
