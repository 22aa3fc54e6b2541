/** Opens the console in a real Chromium, and records every violation of the page’s security policy. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, chromium, type Page } from 'playwright-core'
import { provideChromium } from '../../infra/bootstrap/tools/chromium.mjs'

export interface ConsoleBrowser {
  /** Opens a new page that shares nothing with other pages. */
  open(path: string, options?: PageOptions): Promise<Page>
  /** Violations of the content security policy, errors of scripts, and requests to other origins so far. */
  problems: string[]
  close(): Promise<void>
}

interface PageOptions {
  theme?: 'light' | 'dark'
  width?: number
  height?: number
  /** The language of the browser; default en-US. */
  locale?: string
}

/** Otherwise Chromium starts a process in advance for each page, which takes a seventh of the CPU of a test. */
const FEWER_PROCESSES = ['--disable-site-isolation-trials', '--renderer-process-limit=1']

const NOTE_VIOLATIONS = `document.addEventListener('securitypolicyviolation', (event) =>
  window.noteViolation([event.violatedDirective, event.blockedURI, event.sourceFile, event.sample].join(' ')))`

const provided = await provideChromium(process.env)

/** undefined: there is a Chromium. */
export const whyNoBrowser = typeof provided === 'string' ? provided : undefined

export async function startBrowser(origin: string): Promise<ConsoleBrowser> {
  if (typeof provided === 'string') throw new Error(provided)
  const browser: Browser = await chromium.launch({
    executablePath: provided.path,
    env: { ...definedOnly(process.env), ...provided.env },
    // In a container, processes have no sandbox of their own and little shared memory.
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--disable-gpu',
      '--font-render-hinting=none',
      ...FEWER_PROCESSES,
    ],
  })
  const problems: string[] = []
  return {
    problems,
    open: async (path, { theme = 'light', width = 1280, height = 800, locale = 'en-US' } = {}) => {
      const context = await browser.newContext({ colorScheme: theme, viewport: { width, height }, locale })
      await context.exposeFunction('noteViolation', (text: string) => problems.push(`${path}: ${text}`))
      await context.addInitScript({ content: NOTE_VIOLATIONS })
      const page = await context.newPage()
      page.on('pageerror', (error) => problems.push(`${path}: ${error.message}`))
      page.on('request', (request) => {
        const url = request.url()
        if (!url.startsWith(origin) && !url.startsWith('data:')) problems.push(`${path} asks ${url}`)
      })
      await page.goto(`${origin}${path}`)
      return page
    },
    close: () => browser.close(),
  }
}

function definedOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
/** axe would also describe every node that keeps the rules, and find a selector for each. */
const VIOLATIONS_ONLY = { resultTypes: ['violations'], selectors: false }

interface Violation {
  id: string
  nodes: { html: string; failureSummary: string }[]
}

/** The findings of axe on the page: the rule, the element, and the problem. */
export async function axeProblems(page: Page): Promise<string[]> {
  // The debugger adds the code of axe, because the page’s policy lets no text become a script.
  if (await page.evaluate('self.axe === undefined')) await page.evaluate(AXE)
  const options = JSON.stringify({ runOnly: { type: 'tag', values: RULES }, ...VIOLATIONS_ONLY })
  const run = `axe.run(document, ${options}).then(({ violations }) => violations)`
  return (await page.evaluate<Violation[]>(run)).flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  )
}
