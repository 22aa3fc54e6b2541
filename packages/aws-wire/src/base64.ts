const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** The bytes; undefined where the text is not Base64 with its padding, of which Node would make what it can. */
export function fromBase64(text: string): Buffer | undefined {
  return text.length % 4 === 0 && BASE64.test(text) ? Buffer.from(text, 'base64') : undefined
}
