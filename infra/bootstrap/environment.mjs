// @ts-check
/** The environment that every tool and service of the repository runs in. */
import { accessSync, constants, existsSync, readdirSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { binDir, privateDir, root } from './paths.mjs'

/** Tools that are installed here, because the lockfile has no binary of them for this platform (packages.mjs). */
export const toolsDir = join(privateDir, 'tools')

/**
 * Puts the pinned tools first on PATH and turns telemetry off. Caches go below `.fantail` if HOME or npm's cache
 * cannot be written.
 * @param {NodeJS.ProcessEnv} env
 * @returns {NodeJS.ProcessEnv}
 */
export function toolEnvironment(env) {
  const tools = [join(toolsDir, 'node_modules', '.bin'), ...nativePnpm(), ...nativeTurbo(), binDir]
  const path = [...tools, env.PATH ?? ''].filter((dir) => dir !== '').join(delimiter)
  return { ...env, ...writableHome(env), PATH: path, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' }
}

/**
 * The folder of pnpm's own binary. Its shim would keep one more Node in memory for as long as the stack runs.
 * @returns {string[]}
 */
function nativePnpm() {
  return packagesOf('pnpm', '@pnpm').filter((folder) => existsSync(join(folder, 'pnpm')))
}

/**
 * The folder of turbo's own binary, for the same reason.
 * @returns {string[]}
 */
function nativeTurbo() {
  return packagesOf('turbo', '@turbo')
    .map((folder) => join(folder, 'bin'))
    .filter((folder) => existsSync(join(folder, 'turbo')))
}

/**
 * The folders with the binaries of a tool. The binaries are in packages of the scope, next to the package of the tool.
 * @param {string} tool
 * @param {string} scope
 */
function packagesOf(tool, scope) {
  const wrapper = join(root, 'node_modules', tool)
  if (!existsSync(wrapper)) return []
  const folder = join(dirname(realpathSync(wrapper)), scope)
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
}

/**
 * npm and pnpm keep caches below HOME. If HOME cannot be written, for example because the user has none, they go below
 * `.fantail`.
 * @param {NodeJS.ProcessEnv} env
 * @returns {NodeJS.ProcessEnv}
 */
export function writableHome(env) {
  const home = env.HOME ?? homedir()
  const cache = env.npm_config_cache ?? join(home, '.npm')
  if (canWrite(home) && canWrite(cache)) return {}
  const own = join(privateDir, 'home')
  return {
    npm_config_cache: join(own, 'npm'),
    XDG_CACHE_HOME: join(own, 'cache'),
    XDG_CONFIG_HOME: env.XDG_CONFIG_HOME ?? join(own, 'config'),
    XDG_DATA_HOME: join(own, 'data'),
    XDG_STATE_HOME: join(own, 'state'),
  }
}

/**
 * Whether the path can be written, or the folder in which it would be made.
 * @param {string} path
 */
function canWrite(path) {
  let dir = path
  while (!existsSync(dir) && dirname(dir) !== dir) dir = dirname(dir)
  try {
    accessSync(dir, constants.W_OK)
    return true
  } catch {
    return false // Read-only or not ours.
  }
}
