#!/usr/bin/env -S node --conditions=@fantail/source --enable-source-maps
// @ts-check
/**
 * One binary, four roles: `fantail api | worker | redrive | all`. A single role is this very process, so that signals
 * and exit codes are the service's own. `all` runs the three as children: when one ends, so do the others and this,
 * and whoever supervises it starts everything again. Beside them `fantail keys …` makes, lists and revokes API keys,
 * `fantail secrets reseal` seals everything anew after the master key was changed, and `fantail move` moves everything
 * from one Redis to another or to a cluster.
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** @type {Record<string, string>} */
const ROLES = { api: 'publish-api', worker: 'delivery-worker', redrive: 'redrive' }
const TOOLS = ['keys', 'secrets', 'move']
const CONDITION = '--conditions=@fantail/source'

const role = process.argv[2] ?? ''
const service = ROLES[role]

if (role === 'all') runAll()
else if (TOOLS.includes(role)) await runTool(role)
else if (!service) usage()
else if (process.execArgv.includes(CONDITION)) await import(mainOf(service).href)
else runRoles([role])

/** @param {string} name */
function mainOf(name) {
  return new URL(`../../services/${name}/src/main.ts`, import.meta.url)
}

function usage() {
  console.error(
    `usage: fantail ${Object.keys(ROLES).join(' | ')} | all\n       fantail keys create | list | revoke\n       fantail secrets reseal\n       fantail move --from URL`,
  )
  process.exitCode = 2
}

/** @param {string} name */
async function runTool(name) {
  if (process.execArgv.includes(CONDITION)) {
    await import(new URL(`../../packages/cli/src/${name}/main.ts`, import.meta.url).href)
    return
  }
  const args = [CONDITION, fileURLToPath(import.meta.url), ...process.argv.slice(2)]
  const child = spawn(process.execPath, args, { stdio: 'inherit' })
  child.once('exit', (code) => {
    process.exitCode = code ?? 1
  })
}

function runAll() {
  // One port cannot serve two; each role has its own by default.
  delete process.env.FANTAIL_OPS_PORT
  runRoles(Object.keys(ROLES))
}

/** @param {string[]} roles */
function runRoles(roles) {
  let stopping = false
  const children = roles.map((name) =>
    spawn(process.execPath, [CONDITION, '--enable-source-maps', fileURLToPath(import.meta.url), name], {
      stdio: ['ignore', 'inherit', 'inherit'],
    }),
  )
  const stop = () => {
    stopping = true
    for (const child of children) child.kill('SIGTERM')
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
  for (const child of children) {
    child.once('exit', (code) => {
      if (stopping && code === 0) return
      process.exitCode = code || 1
      if (!stopping) stop()
    })
  }
}
