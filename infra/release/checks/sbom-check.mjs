// @ts-check
/**
 * Checks a bill of materials by the schema that CycloneDX publishes. The validator comes from npm into `.fantail/sbom`,
 * because nothing else needs it. By hand: `node infra/release/checks/sbom-check.mjs FILE`.
 */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { privateDir } from '../../bootstrap/paths.mjs'
import { run, StepError, say } from '../../bootstrap/steps.mjs'

const LIBRARY = '@cyclonedx/cyclonedx-library'
const VALIDATOR = [`${LIBRARY}@10.3.0`, 'ajv@8.17.1', 'ajv-formats@3.0.1', 'ajv-formats-draft2019@1.6.1']

/** @param {string} path */
export async function checkSbom(path) {
  say(`checking ${path}`)
  const tools = join(privateDir, 'sbom')
  const modules = join(tools, 'node_modules/')
  if (!existsSync(join(modules, LIBRARY)))
    await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', tools, ...VALIDATOR])
  const { Spec, Validation } = createRequire(modules)(LIBRARY)
  const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6)
  const problems = await validator.validate(readFileSync(path, 'utf8'))
  if (problems) throw new StepError(`${path} is not CycloneDX 1.6:\n${JSON.stringify(problems, null, 2)}`)
}

if (import.meta.main) await checkSbom(process.argv[2] ?? '')
