/**
 * Removes the tokens of links from what endpoints say. An endpoint may repeat its request, and a token proves that its
 * holder got a delivery or a confirmation. So nothing that others read may have it.
 */

const QUOTE = '(?:\\\\*["\']|&quot;|&#(?:34|39|x22|x27);)+'
/** `=` of the query, as JSON, HTML and URLs escape it, or the `:` of a member. */
const EQUALS = `=|%(?:25)*3d|\\\\+u003d|&#(?:61|x3d);|${QUOTE}\\s*:\\s*${QUOTE}`
/** A text may be cut within a token. A beginning of less than 16 characters leaves 160 bits to guess. */
const TOKEN = new RegExp(`(token(?:${EQUALS}))[\\w-]{16,}`, 'gi')

export function withoutTokens(text: string): string {
  return text.replace(TOKEN, '$1***')
}
