/**
 * Portal links and sessions. A link is made with an API key, and handed to a customer. The page of the portal redeems
 * it once, and keeps the session's token in memory. No cookie is set, so it works in a frame of another site.
 */
import { randomUUID } from 'node:crypto'
import { FantailError, type PortalSessionRecord, type Problem } from '@fantail/contracts'
import {
  NewPortalSessionView,
  PortalLinkInput,
  PortalLinkView,
  PortalRedeemInput,
  PortalSessionView,
} from '@fantail/contracts/schemas/portal/portal-link-schemas'
import { PORTAL_LINK_MS_MAX } from '@fantail/store'
import type { z } from 'zod'
import {
  digestOfToken,
  excessOf,
  isLinkToken,
  makeLinkToken,
  makePortalToken,
  portalCallerOf,
  portalKeyOf,
  portalSessionOf,
  portalTokenIn,
} from '../auth/portal-caller.ts'
import { needSafeOrigin } from '../auth/session-cookie.ts'
import type { ApiDeps } from '../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, NO_CONTENT, ok } from '../http/endpoint.ts'
import { invalid } from '../http/error-answers.ts'
import { publicUrlFor } from '../http/origin.ts'
import { iso } from '../http/record-views.ts'

const TAG = 'Portal'
const PATH = '/v1/portal/session'
const NO_KEYS = 'this server does not require keys, so it has no portal sessions: set FANTAIL_AUTH=on'
const NO_LINK = 'the link was opened before, or its ten minutes are over: ask for a new one'

type LinkCall = Call<unknown, z.output<typeof PortalLinkInput>>
type RedeemCall = Call<unknown, z.output<typeof PortalRedeemInput>>
type SessionView = z.input<typeof PortalSessionView>

export function portalSessionRoutes(deps: ApiDeps): Endpoint[] {
  return [
    endpoint({
      id: 'createPortalLink',
      method: 'POST',
      path: '/v1/portal-links',
      tag: TAG,
      summary: 'Make a link that opens the portal for a customer',
      description:
        'The link works once, within ten minutes. Its session can do what `scopes` say, and at no time more than the ' +
        'caller’s key may. It ends when the key is revoked.',
      body: PortalLinkInput,
      answers: { 201: { description: 'Made; hand the URL to the customer', schema: PortalLinkView } },
      errors: ['not_supported', 'not_found', 'storage_full'],
      handle: (call) => makeLink(deps, call),
    }),
    endpoint({
      id: 'redeemPortalLink',
      method: 'POST',
      path: PATH,
      tag: TAG,
      summary: 'Redeem a portal link for a session',
      description:
        'The page of the portal does this with the token behind the `#`. A second try answers 401.',
      body: PortalRedeemInput,
      answers: { 201: { description: 'The session has begun', schema: NewPortalSessionView } },
      errors: ['unauthorized', 'forbidden', 'storage_full'],
      handle: (call) => redeem(deps, call),
    }),
    endpoint({
      id: 'getPortalSession',
      method: 'GET',
      path: PATH,
      tag: TAG,
      summary: 'Read what this portal session may do',
      description: 'Shows scopes, theme and end of the session. For tokens of portal sessions.',
      answers: { 200: { description: 'The session', schema: PortalSessionView } },
      errors: ['not_supported'],
      handle: async (call) => {
        portalKeyOf(call.caller)
        return ok(sessionView(await portalSessionOf(tokenIn(call), deps)))
      },
    }),
    endpoint({
      id: 'endPortalSession',
      method: 'DELETE',
      path: PATH,
      tag: TAG,
      summary: 'End this portal session',
      description: 'All processes refuse its token within 100 ms.',
      answers: { 204: { description: 'The session has ended' } },
      errors: ['not_supported'],
      handle: async (call) => {
        portalKeyOf(call.caller)
        const digest = digestOfToken(tokenIn(call))
        await deps.portalSessions.end(digest)
        deps.portalCache.forget(digest)
        return NO_CONTENT
      },
    }),
  ]
}

async function makeLink(deps: ApiDeps, call: LinkCall): Promise<Answer> {
  const { caller: key, body } = call
  if (key === null) throw new FantailError('not_supported', NO_KEYS)
  const { prefixes = [], subscriptions = null, scopes, ttlSeconds, theme = {}, language } = body
  const problems = themeProblems(theme)
  if (problems.length > 0) throw invalid(problems)
  const excess = excessOf(key, { account: key.account, prefixes, scopes })
  if (excess !== undefined) throw new FantailError('forbidden', excess)
  const id = randomUUID()
  const token = makeLinkToken()
  const now = deps.clock()
  const { name = null, logo = null, colour = null } = theme
  const grant = {
    id,
    keyId: key.id,
    account: key.account,
    prefixes,
    subscriptions,
    scopes: [...new Set(scopes)],
  }
  const record = { ...grant, theme: { name, logo, colour }, ttlSeconds }
  await deps.portalSessions.makeLink(digestOfToken(token), record, now)
  const search = language === undefined ? '' : `?language=${language}`
  const url = `${publicUrlFor(deps.settings, call).replace(/\/$/, '')}/portal/${search}#${token}`
  const view: z.input<typeof PortalLinkView> = { id, url, expiresAt: iso(now + PORTAL_LINK_MS_MAX) }
  return { status: 201, body: view }
}

/** The token is used up before anything else, so nobody can use it a second time. */
async function redeem(deps: ApiDeps, { body, request }: RedeemCall): Promise<Answer> {
  needSafeOrigin(request, deps.settings)
  const { token: given } = body
  const link = isLinkToken(given) ? await deps.portalSessions.takeLink(digestOfToken(given)) : null
  if (!link) throw new FantailError('unauthorized', NO_LINK)
  const { ttlSeconds, ...grant } = link
  const token = makePortalToken()
  const createdAt = deps.clock()
  const record: PortalSessionRecord = { ...grant, createdAt, endsAt: createdAt + ttlSeconds * 1_000 }
  const digest = digestOfToken(token)
  await deps.portalSessions.make(digest, record)
  try {
    // The key may have been revoked since it made the link.
    await portalCallerOf(token, deps)
  } catch (error) {
    await deps.portalSessions.end(digest)
    throw error
  }
  return { status: 201, body: { ...sessionView(record), token } }
}

function tokenIn({ request }: Call): string {
  const token = portalTokenIn(request.header('authorization'))
  if (token === undefined) throw new FantailError('unauthorized', 'no token of a portal session is given')
  return token
}

function sessionView({ id, scopes, subscriptions, theme, endsAt }: PortalSessionRecord): SessionView {
  return {
    id,
    scopes: scopes as SessionView['scopes'],
    canAdd: subscriptions === null && scopes.includes('manage'),
    theme,
    endsAt: iso(endsAt),
  }
}

/** @limit Size of a portal's logo. Past it: `validation_failed`. */
const PORTAL_LOGO_BYTES_MAX = 16_384
/** WCAG 2.2 AA, for text. */
const READABLE_CONTRAST = 4.5
const DATA_URL = /^data:image\/(png|jpeg|webp);base64,([A-Za-z0-9+/]+={0,2})$/

/** The first bytes of each form of picture. SVG is refused, because it can contain scripts and links. */
const SIGNATURES = new Map<string, (bytes: Buffer) => boolean>([
  ['png', (bytes) => bytes.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex'))],
  ['jpeg', (bytes) => bytes.subarray(0, 3).equals(Buffer.from('ffd8ff', 'hex'))],
  [
    'webp',
    (bytes) =>
      bytes.subarray(0, 4).toString('latin1') === 'RIFF' &&
      bytes.subarray(8, 12).toString('latin1') === 'WEBP',
  ],
])

interface Given {
  logo?: unknown
  colour?: unknown
}

/** The theme of a portal: a name, a logo, one colour. Nothing in it can run, load or hide text. */
function themeProblems(theme: Given): Problem[] {
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
  return SIGNATURES.get(form)?.(bytes) ? undefined : `is not a picture of the form ${form}`
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
