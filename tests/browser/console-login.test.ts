/** The console of a server that asks for keys: a key is given once, and a session takes its place. */
import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useStack } from '../harness/services/stack.ts'
import { ROOT } from '../repo/repository.ts'
import { type ConsoleBrowser, startBrowser, whyNoBrowser } from './console-browser.ts'

const stack = useStack({ workers: 0, env: { FANTAIL_AUTH: 'on' } })
let browser: ConsoleBrowser
beforeAll(async () => {
  if (whyNoBrowser !== undefined) return
  execFileSync('turbo', ['run', 'bundle'], { stdio: 'pipe' })
  browser = await startBrowser(stack().api.url)
})
afterAll(() => browser?.close())

function createKey(): string {
  const args = ['keys', 'create', '--name', 'ops', '--scope', 'read', '--scope', 'manage', '--quiet']
  const command = ['--conditions=@fantail/source', `${ROOT}/infra/bin/fantail.mjs`, ...args]
  const env = { ...process.env, ...stack().place.env }
  return execFileSync('node', command, { cwd: ROOT, env, encoding: 'utf8' }).trim()
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
  // The stream of live events goes by the session, too.
  await page.getByRole('link', { name: 'Live', exact: true }).click()
  await page.locator('main [role="status"]').getByText('receiving').waitFor()
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByRole('heading', { name: 'Log in to Fantail' }).waitFor()
  expect(browser.problems).toEqual([])
})
