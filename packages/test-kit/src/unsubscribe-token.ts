/**
 * The envelope as anybody but its subscriber gets it: without the token in the link that unsubscribes without a key.
 */
export function withoutToken(envelope: string | undefined): string | undefined {
  return envelope?.replace(/&Token=[\w-]{43}(?=")/, '')
}
