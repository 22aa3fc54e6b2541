// @ts-check
/** The software bill of materials of a release, as CycloneDX 1.6. It names no time and no machine. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../bootstrap/paths.mjs'

/** @typedef {import('../bundle/bundled-packages.mjs').BundledPackage} BundledPackage */

/**
 * The document, as text.
 * @param {BundledPackage[]} packages @param {string} node the version of Node
 */
export function sbomOf(packages, node) {
  const { version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const product = { name: 'fantail', version, license, type: 'application' }
  const runtime = {
    ...componentOf({ name: 'node', version: node, license: 'MIT', type: 'platform' }, 'pkg:generic/'),
    cpe: `cpe:2.3:a:nodejs:node.js:${node}:*:*:*:*:*:*:*`,
  }
  const components = [runtime, ...packages.map((one) => componentOf({ ...one, type: 'library' }, 'pkg:npm/'))]
  const own = componentOf(product, 'pkg:generic/')
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: own },
    components,
    dependencies: [{ ref: own['bom-ref'], dependsOn: components.map((one) => one['bom-ref']) }],
  }
  return `${JSON.stringify(document, null, 2)}\n`
}

/**
 * @param {{ type: string, name: string, version: string, license?: string | undefined }} part
 * @param {string} kind the beginning of its package URL
 */
function componentOf({ type, name, version, license }, kind) {
  const purl = `${kind}${name.replace('@', '%40')}@${version}`
  return {
    type,
    'bom-ref': purl,
    name,
    version,
    ...(license && { licenses: [{ expression: license }] }),
    purl,
  }
}
