/**
 * Pages of a server that requires keys: the console with the session of a key, and the portal with the session of a
 * link.
 */
import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import { freePort, waitFor } from '@fantail/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createShell } from '../guides/shell.ts'
import { launcher } from '../harness/services/service-bundles.ts'
import { useStack } from '../harness/services/stack.ts'
import { ROOT } from '../repo/repository.ts'
import { axeProblems, type ConsoleBrowser, startBrowser, whyNoBrowser } from './console-browser.ts'

const isLong = process.env.FANTAIL_BROWSER_LONG === '1' && whyNoBrowser === undefined
/** A page here may show the portal in a frame. */
const SHOP_PORT = await freePort()
const FANTAIL_PORTAL_ORIGINS = `http://127.0.0.1:${SHOP_PORT}`
const stack = useStack({ workers: 0, env: { FANTAIL_AUTH: 'on', FANTAIL_PORTAL_ORIGINS } })
let browser: ConsoleBrowser
beforeAll(async () => {
  if (whyNoBrowser !== undefined) return
  browser = await startBrowser(stack().api.url)
})
afterAll(() => browser?.close())

function createKey(): string {
  const scopes = ['read', 'manage', 'redrive'].flatMap((scope) => ['--scope', scope])
  const args = ['keys', 'create', '--name', 'ops', ...scopes, '--quiet']
  const env = { ...process.env, ...stack().place.env }
  return execFileSync(process.execPath, [launcher(), ...args], { cwd: ROOT, env, encoding: 'utf8' }).trim()
}

type Call = (method: string, path: string, body: object) => Promise<{ url: string }>

/** Calls the API with a key of its own. */
function callerOf(url: string): Call {
  const headers = { authorization: `Bearer ${createKey()}`, 'content-type': 'application/json' }
  return async (method, path, body) => {
    const response = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) })
    expect(response.ok).toBe(true)
    return (await response.json()) as { url: string }
  }
}

/** A customer's page at another origin, with the portal in a frame. */
async function startShop(port: number, portal: () => string) {
  const page = () =>
    `<!doctype html><title>Shop</title><iframe src="${portal()}" width="900" height="600"></iframe>`
  const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(page()))
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return () => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  }
}

test('a wrong key is refused, a right one opens a session, and logging out ends it', async (context) => {
  if (whyNoBrowser !== undefined) context.skip(whyNoBrowser)
  const page = await browser.open('/console/topics')
  const field = page.getByLabel('Token of an API key')
  await field.fill('ft_wrong')
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('alert').waitFor()
  await field.fill(createKey())
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Topics' }).waitFor()
  await page.getByRole('button', { name: 'Create topic' }).first().click()
  await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('orders')
  await page.getByRole('dialog').getByRole('button', { name: 'Create topic' }).click()
  await page.getByRole('heading', { level: 1, name: 'orders' }).waitFor()
  expect(
    await page.evaluate<string>('JSON.stringify([localStorage, sessionStorage, document.cookie])'),
  ).not.toContain('ft_')
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'orders' }).waitFor()
  // The stream of live events uses the session, too.
  await page.getByRole('link', { name: 'Live', exact: true }).click()
  await page.locator('main [role="status"]').getByText('receiving').waitFor()
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByRole('heading', { name: 'Log in to Fantail' }).waitFor()
  expect(browser.problems).toEqual([])
})

test('the commands of docs/guides/portal.md print what stands there', async () => {
  const { api, place } = stack()
  const addresses = { 'http://127.0.0.1:4100': api.url }
  await createShell({ addresses, env: place.env }).runGuide('docs/guides/portal.md')
})

test('a customer opens the portal once, adds an endpoint, and leaves nothing in the browser', async (context) => {
  if (!isLong) context.skip('npm run test:browser runs it')
  const { url } = stack().api
  const call = callerOf(url)
  await call('PUT', '/v1/topics/acme-portal', {})
  for (const theme of ['light', 'dark'] as const) {
    const look = { name: 'Acme events', colour: '#0b6e75' }
    const grant = { prefixes: ['acme-portal'], scopes: ['read', 'manage', 'redrive'], theme: look }
    const { hash } = new URL((await call('POST', '/v1/portal-links', grant)).url)
    const page = await browser.open(`/portal/${hash}`, { theme })
    await page.getByRole('heading', { level: 1, name: 'Endpoints' }).waitFor()
    await page.getByText('Acme events').waitFor()
    expect(page.url()).toBe(`${url}/portal/`)
    await page.getByRole('button', { name: 'Add endpoint' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('URL').fill(`https://acme.example.com/${theme}`)
    await dialog.getByRole('button', { name: 'Add endpoint' }).click()
    await page.getByRole('heading', { level: 1, name: `https://acme.example.com/${theme}` }).waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'Resume' }).waitFor()
    await page.getByRole('button', { name: 'Make a new key' }).click()
    await page.getByText('whsec_').waitFor()
    expect(await axeProblems(page)).toEqual([])
    const kept = 'JSON.stringify([localStorage, sessionStorage, document.cookie])'
    expect(await page.evaluate<string>(kept)).not.toMatch(/fps_|fpl_|whsec_/)
    await page.reload()
    await page.getByText('A link works once').waitFor()
    const again = await browser.open(`/portal/${hash}`, { theme })
    await again.getByRole('alert').waitFor()
    await page.close()
    await again.close()
  }
  expect(browser.problems).toEqual([])
})

test('the portal works in a frame of the listed origin, and in no frame of another one', async (context) => {
  if (!isLong) context.skip('npm run test:browser runs it')
  const { url } = stack().api
  const call = callerOf(url)
  await call('PUT', '/v1/topics/framed-orders', {})
  const grant = { prefixes: ['framed-orders'], scopes: ['read', 'manage'] }
  const { hash } = new URL((await call('POST', '/v1/portal-links', grant)).url)
  const otherPort = await freePort()
  const closings = await Promise.all(
    [SHOP_PORT, otherPort].map((port) => startShop(port, () => `${url}/portal/${hash}`)),
  )
  const page = await browser.open('/console/')
  // The same host with another port, and another name of the same host.
  for (const origin of [`http://127.0.0.1:${otherPort}`, `http://localhost:${SHOP_PORT}`]) {
    await page.goto(origin)
    await waitFor(() => page.frames()[1]?.url().startsWith('chrome-error:') === true)
  }
  await page.goto(FANTAIL_PORTAL_ORIGINS)
  const frame = page.frameLocator('iframe')
  await frame.getByRole('heading', { level: 1, name: 'Endpoints' }).waitFor()
  await frame.getByRole('button', { name: 'Add endpoint' }).first().click()
  await frame.getByRole('dialog').getByLabel('URL').fill('https://acme.example.com/framed')
  await frame.getByRole('dialog').getByRole('button', { name: 'Add endpoint' }).click()
  await frame.getByRole('heading', { level: 1, name: 'https://acme.example.com/framed' }).waitFor()
  await page.close()
  await Promise.all(closings.map((close) => close()))
  // The pages around the frames are of other origins, and the two refusals are reported.
  const others = browser.problems.filter((problem) => !/ asks http|frame-ancestors/.test(problem))
  browser.problems.length = 0
  expect(others).toEqual([])
})
