/** The theme of a portal: a name, a logo, one colour. Nothing in it can run, load or hide text. */
import type { Problem } from '@fantail/contracts'

/** @limit Size of a portal's logo. Past it: `validation_failed`. */
const PORTAL_LOGO_BYTES_MAX = 16_384
/** WCAG 2.2 AA, for text. */
const READABLE_CONTRAST = 4.5
const DATA_URL = /^data:image\/(png|jpeg|webp);base64,([A-Za-z0-9+/]+={0,2})$/

/** The first bytes of each form of picture. SVG is refused, because it can contain scripts and links. */
const SIGNATURES: Record<string, (bytes: Buffer) => boolean> = {
  png: (bytes) => bytes.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex')),
  jpeg: (bytes) => bytes.subarray(0, 3).equals(Buffer.from('ffd8ff', 'hex')),
  webp: (bytes) =>
    bytes.subarray(0, 4).toString('latin1') === 'RIFF' && bytes.subarray(8, 12).toString('latin1') === 'WEBP',
}

interface Given {
  logo?: unknown
  colour?: unknown
}

export function themeProblems(theme: Given): Problem[] {
  const { logo, colour } = theme
  const problems = [
    { path: 'theme.logo', message: typeof logo === 'string' ? logoProblem(logo) : undefined },
    { path: 'theme.colour', message: typeof colour === 'string' ? colourProblem(colour) : undefined },
  ]
  return problems.flatMap(({ path, message }) => (message === undefined ? [] : [{ path, message }]))
}

function logoProblem(logo: string): string | undefined {
  const [, form = '', base64 = ''] = DATA_URL.exec(logo) ?? []
  if (form === '')
    return 'must be a data URL of a picture: data:image/png, image/jpeg or image/webp, in base64'
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length > PORTAL_LOGO_BYTES_MAX) return `may have at most ${PORTAL_LOGO_BYTES_MAX} bytes`
  return SIGNATURES[form]?.(bytes) ? undefined : `is no picture of the form ${form}`
}

function colourProblem(colour: string): string | undefined {
  if (!/^#[0-9a-f]{6}$/i.test(colour)) return undefined
  const contrast = contrastWithWhite(colour)
  if (contrast >= READABLE_CONTRAST) return undefined
  const has = Math.floor(contrast * 100) / 100
  return `is too light: white text on it has a contrast of ${has}, and needs ${READABLE_CONTRAST}`
}

/** By WCAG 2.2, from 1 to 21. */
export function contrastWithWhite(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)
}
