/** Bytes and keys as Web Crypto takes them. */
/** The bytes of a base64 text. undefined: the text is not base64. */
export function base64Bytes(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  } catch {
    return undefined
  }
}

/** This type exists with and without the browser's types. */
export type ImportedKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>
