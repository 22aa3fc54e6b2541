const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** Undefined if the text is not Base64 with its padding. Node's own decoder would accept any text. */
export function fromBase64(text: string): Buffer | undefined {
  return text.length % 4 === 0 && BASE64.test(text) ? Buffer.from(text, 'base64') : undefined
}
