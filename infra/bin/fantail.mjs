#!/usr/bin/env -S node --conditions=@fantail/source --enable-source-maps
// @ts-check
/**
 * One binary, four roles: `fantail api | worker | redrive | all`. A single role is this very process, so that signals
 * and exit codes are the service's own. `all` runs the three as children: when one ends, so do the others and this,
 * and whoever supervises it starts everything again. Beside them `fantail keys …` makes, lists and revokes API keys,
 * `fantail secrets reseal` seals everything anew after the master key was changed, and `fantail move` moves everything
 * from one Redis to another or to a cluster. `--help` and `--version` answer without Redis and settings.
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** @type {Record<string, string>} */
const ROLES = { api: 'publish-api', worker: 'delivery-worker', redrive: 'redrive' }
const TOOLS = ['keys', 'secrets', 'move']
const CONDITION = '--conditions=@fantail/source'

const USAGE = `usage: fantail ${Object.keys(ROLES).join(' | ')} | all     run a service, or all three
       fantail keys create | list | revoke       API keys
       fantail secrets reseal                    seal secrets anew with another master key
       fantail move --from URL                   move everything to another Redis
       fantail --version

\`fantail keys --help\` and the like say more. Settings come from the environment: .env.example lists them.
In a checkout it is \`npm run fantail -- keys list\`.`

const HELP = ['--help', '-h', 'help']
const VERSION = ['--version', '-v', 'version']

const [role = '', ...args] = process.argv.slice(2)
const service = ROLES[role]

// Tools answer for their own options.
if (HELP.includes(role) || ((service || role === 'all') && args.some((word) => HELP.includes(word)))) help()
else if (VERSION.includes(role)) await version()
else if (role === 'all') runAll()
else if (TOOLS.includes(role)) await runTool(role)
else if (!service) usage()
else if (process.execArgv.includes(CONDITION)) await import(mainOf(service).href)
else runRoles([role])

/** @param {string} name */
function mainOf(name) {
  return new URL(`../../services/${name}/src/main.ts`, import.meta.url)
}

function help() {
  console.log(USAGE)
}

function usage() {
  console.error(USAGE)
  process.exitCode = 2
}

async function version() {
  const { readBuild } = await import('../../packages/runtime/src/health/build.ts')
  const { version, commit, problem } = readBuild(process.env.FANTAIL_COMMIT?.trim())
  console.log(`fantail ${version} (commit ${commit})`)
  if (problem) console.error(problem)
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
  // One port cannot serve two services. Each role has its own port by default.
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
