/** Bytes and keys as Web Crypto takes them. */
/** The bytes of a base64 text. undefined if it is none. */
export function base64Bytes(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  } catch {
    return undefined
  }
}

/** A name that compilers with and without the types of browsers know. */
export type ImportedKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>
