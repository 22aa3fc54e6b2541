#!/usr/bin/env -S node --conditions=@fantail/source --enable-source-maps
// @ts-check
/**
 * One binary: the services `fantail api | worker | redrive | all`, and every command of packages/command-line. A single
 * service runs in this process, so signals and exit codes are the service's own. `all` without options runs the three
 * as children. When one child ends, the others and this process end too, so that a supervisor can start everything
 * again. With options, `packages/command-line/src/all` runs several of each and starts them again by itself. `--help`
 * and `--version` need no Redis and no settings. The published package has this file next to the bundles, and runs
 * those.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
// An older Node lacks names of this module. It must get far enough to say so: Node 14 can read this file.
import * as nodeModule from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROLES = new Map([
  ['api', 'publish-api'],
  ['worker', 'delivery-worker'],
  ['redrive', 'redrive'],
])
const SOURCE = '@fantail/source'
const CONDITION = `--conditions=${SOURCE}`

const HELP = ['--help', '-h', 'help']
const VERSION = ['--version', '-v', 'version']

/** The folder of the bundles. A checkout has none. */
const BUNDLES = new URL('../server/', import.meta.url)
const isPacked = existsSync(BUNDLES)

/** The oldest Node in `engines` of package.json. Early releases of Node 23 lack the hooks. */
const NODE_MIN = '22.22'
const isOld = process.versions.node.localeCompare(NODE_MIN, undefined, { numeric: true }) < 0
if (isOld || !('registerHooks' in nodeModule)) {
  const where = isPacked ? '' : '; in a checkout, run it by node_modules/.bin/node or `npm run fantail --`'
  console.error(`fantail needs Node ${NODE_MIN} or newer, and this is ${process.version}${where}`)
  process.exit(1)
}

const [role = '', ...args] = process.argv.slice(2)
// If words follow, `redrive` is the command that sends dead letters again. Otherwise it is the service.
const service = role === 'redrive' && args.length > 0 ? undefined : ROLES.get(role)
const asksForHelp = args.some((word) => HELP.includes(word))

if (VERSION.includes(role)) await version()
else if (role === 'all' && args.length === 0) runAll()
else if (!service || asksForHelp) await runCommand()
else if (isPacked || process.execArgv.includes(CONDITION)) await import(mainOf(service ?? '').href)
else runRoles([role])

/** @param {string} name */
function mainOf(name) {
  if (isPacked) return new URL(`${name}.mjs`, BUNDLES)
  return new URL(`../../services/${name}/src/main.ts`, import.meta.url)
}

async function version() {
  keepCompiledCode()
  const build = isPacked ? new URL('build.mjs', BUNDLES).href : '../../packages/runtime/src/health/build.ts'
  const { readBuild } = await import(build)
  const { version, commit, problem } = readBuild(process.env.FANTAIL_COMMIT?.trim())
  console.log(`fantail ${version} (commit ${commit})`)
  if (problem) console.error(problem)
}

/**
 * Keeps compiled code, so that the next command starts in a third of the time. The folder belongs to the user. In a
 * shared folder, other users could leave code.
 */
function keepCompiledCode() {
  nodeModule.enableCompileCache(
    join(process.env.XDG_CACHE_HOME?.trim() || join(homedir(), '.cache'), 'fantail'),
  )
}

/** Loads packages from their sources in this process, so a command starts Node only once. */
async function runCommand() {
  keepCompiledCode()
  if (isPacked) return void (await import(new URL('cli.mjs', BUNDLES).href))
  if (!process.execArgv.includes(CONDITION)) {
    nodeModule.registerHooks({
      resolve: (specifier, context, next) =>
        next(specifier, { ...context, conditions: [SOURCE, ...context.conditions] }),
    })
  }
  await import('../../packages/command-line/src/main.ts')
}

function runAll() {
  // One port cannot serve two services. Each role has its own port by default.
  delete process.env.FANTAIL_OPS_PORT
  runRoles([...ROLES.keys()])
}

/** @param {string[]} roles */
function runRoles(roles) {
  let stopping = false
  const flags = isPacked ? [] : [CONDITION, '--enable-source-maps']
  const children = roles.map((name) =>
    spawn(process.execPath, [...flags, fileURLToPath(import.meta.url), name], {
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
