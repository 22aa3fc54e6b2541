// @ts-check
/** Paths of files and folders, relative to this file and never to the working directory. */
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The repository. */
export const root = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '')

/** The folder that the bootstrap makes; git ignores it. */
export const privateDir = join(root, '.fantail')

/** Binaries of packages, among them the pinned Node. */
export const binDir = join(root, 'node_modules', '.bin')

/**
 * The folder with the local Redis's data. A relative path starts at the repository, as for every service.
 * @param {NodeJS.ProcessEnv} env
 */
export const dataDir = (env) => resolve(root, env.FANTAIL_DATA_DIR?.trim() || '.fantail')
