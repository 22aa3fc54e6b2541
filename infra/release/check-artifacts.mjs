// @ts-check
/** Tries the artifacts of a release as their users would, each in an empty system: `check-artifacts.mjs FOLDER`. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { StepError } from '../bootstrap/steps.mjs'
import { checkDebianPackage } from './checks/debian-check.mjs'
import { checkImage } from './checks/image-check.mjs'
import { checkSbom } from './checks/sbom-check.mjs'

const [folder = ''] = process.argv.slice(2)
try {
  if (folder === '') throw new StepError('usage: check-artifacts.mjs FOLDER')
  const files = readdirSync(folder).map((name) => join(folder, name))
  for (const sbom of files.filter((path) => path.endsWith('.cdx.json'))) await checkSbom(sbom)
  for (const deb of files.filter((path) => path.endsWith('.deb'))) await checkDebianPackage(deb)
  for (const layout of files.filter((path) => path.endsWith('_oci.tar'))) await checkImage(layout)
} catch (error) {
  if (!(error instanceof StepError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
