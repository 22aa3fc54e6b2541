/**
 * Reads the set-up of a Svix account or server over its HTTP API: applications, endpoints with their secrets and
 * headers, and event types. Every call is a GET, so nothing changes there.
 */
import { fetchAgain } from '../../../frame/api-client.ts'
import { CommandError, Unreachable } from '../../../output/exit-codes.ts'

export interface SvixEventType {
  name: string
  description?: string
  archived?: boolean
  deprecated?: boolean
  /** JSON Schemas by their versions. */
  schemas?: Record<string, unknown> | null
  groupName?: string | null
  featureFlag?: string | null
  featureFlags?: string[] | null
}

interface ListedEndpoint {
  id: string
  uid?: string | null
  url: string
  description?: string
  disabled?: boolean
  /** Older servers call them `filterTypes`. */
  eventTypes?: string[] | null
  filterTypes?: string[] | null
  channels?: string[] | null
  metadata?: Record<string, string>
  /** Messages per second. Older servers call it `rateLimit`. */
  throttleRate?: number | null
  rateLimit?: number | null
}

export interface SvixEndpoint extends ListedEndpoint {
  /** The signing secret, `whsec_…`. Of a key pair it is the public key, `whpk_…`. */
  key: string
  headers: Record<string, string>
  /** Names of headers whose values Svix does not show. */
  sensitive: string[]
  /** Code changes its messages. */
  isTransformed: boolean
}

interface ListedApplication {
  id: string
  uid?: string | null
  name: string
  metadata?: Record<string, string>
  throttleRate?: number | null
  rateLimit?: number | null
}

export interface SvixApplication extends ListedApplication {
  endpoints: SvixEndpoint[]
}

export interface SvixSetup {
  applications: SvixApplication[]
  eventTypes: SvixEventType[]
}

interface Page<T> {
  data: T[]
  iterator: string | null
  done: boolean
}

interface SourceOptions {
  /** Without a slash at its end. */
  url: string
  token: string
  signal: AbortSignal
}

/** Members of a page. It is the most that Svix gives. */
const SVIX_PAGE_LIMIT = 250
/** Endpoints that are read at a time. */
const AT_A_TIME = 8
const REGIONS = ['us', 'eu', 'in', 'ca', 'au']

/** The address of Svix's own service. The token names its region after a dot. */
export function svixUrlOf(token: string): string {
  const region = token.split('.')[1] ?? ''
  return REGIONS.includes(region) ? `https://api.${region}.svix.com` : 'https://api.svix.com'
}

export class SvixSource {
  readonly #url: string
  readonly #token: string
  readonly #fetch: typeof fetch

  constructor({ url, token, signal }: SourceOptions) {
    this.#url = url
    this.#token = token
    this.#fetch = fetchAgain(signal)
  }

  /** `onRead` gets the number of endpoints that are read so far. */
  async read(onRead: (endpoints: number) => void): Promise<SvixSetup> {
    const eventTypes = await this.#all<SvixEventType>('event-type', {
      include_archived: 'true',
      with_content: 'true',
    })
    const applications: SvixApplication[] = []
    let count = 0
    for (const application of await this.#all<ListedApplication>('app')) {
      const path = `app/${encodeURIComponent(application.id)}/endpoint`
      const listed = await this.#all<ListedEndpoint>(path)
      const endpoints = await inTurns(listed, async (endpoint) => {
        const read = await this.#endpoint(`${path}/${encodeURIComponent(endpoint.id)}`, endpoint)
        onRead(++count)
        return read
      })
      applications.push({ ...application, endpoints })
    }
    return { applications, eventTypes }
  }

  async #endpoint(path: string, endpoint: ListedEndpoint): Promise<SvixEndpoint> {
    const { key } = await this.#get<{ key: string }>(`${path}/secret`)
    const { headers, sensitive = [] } = await this.#get<Pick<SvixEndpoint, 'headers' | 'sensitive'>>(
      `${path}/headers`,
    )
    const transformation = await this.#find<{ enabled?: boolean; code?: string | null }>(
      `${path}/transformation`,
    )
    const isTransformed = transformation?.enabled === true && Boolean(transformation.code)
    return { ...endpoint, key, headers, sensitive, isTransformed }
  }

  async #all<T>(path: string, query: Record<string, string> = {}): Promise<T[]> {
    const items: T[] = []
    for (let iterator: string | null = null; ; ) {
      const words = new URLSearchParams({ ...query, limit: String(SVIX_PAGE_LIMIT) })
      if (iterator !== null) words.set('iterator', iterator)
      const page: Page<T> = await this.#get<Page<T>>(`${path}?${words}`)
      items.push(...page.data)
      if (page.done || page.iterator === null) return items
      iterator = page.iterator
    }
  }

  async #get<T>(path: string): Promise<T> {
    const found = await this.#find<T>(path)
    if (found !== undefined) return found
    throw new CommandError('notFound', `${this.#url} has no /api/v1/${withoutQuery(path)}`, WHERE)
  }

  /** undefined: there is none. A server of one's own has no transformations. */
  async #find<T>(path: string): Promise<T | undefined> {
    const answer = await this.#fetch(`${this.#url}/api/v1/${path}`, {
      headers: { accept: 'application/json', authorization: `Bearer ${this.#token}` },
    }).catch((error: Error) => {
      throw new Unreachable(`${this.#url} does not answer: ${error.message}`, { cause: error })
    })
    if (answer.status === 404) return undefined
    const isJson = /^application\/json\b/.test(answer.headers.get('content-type') ?? '')
    if (answer.ok && isJson) return (await answer.json()) as T
    const refused = answer.status === 401 || answer.status === 403
    throw new CommandError(
      refused ? 'refused' : 'unreachable',
      `${this.#url} answers ${answer.status}${isJson ? '' : ', no JSON,'} to GET /api/v1/${withoutQuery(path)}`,
      refused ? 'The token must be one of the environment, and of the region that --from names.' : WHERE,
    )
  }
}

const WHERE = 'Give the address of the API with --from, such as https://api.eu.svix.com.'

function withoutQuery(path: string): string {
  return path.split('?', 1)[0] ?? path
}

/** A few at a time, with the results in the order of the items. */
async function inTurns<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const left = items.entries()
  const worker = async () => {
    for (const [index, item] of left) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, worker))
  return results
}
