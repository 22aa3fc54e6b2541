/**
 * A Python with Ansible's modules for SNS and SQS. The package `ansible` has the modules, but half a gigabyte of others
 * too, so only two of its collections are unpacked.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pip, pythonWith } from './pythons.ts'

const ANSIBLE = 'ansible==12.3.0'
const PACKAGES = ['ansible-core==2.19.14', 'boto3==1.43.11']
const COLLECTIONS = ['amazon/aws', 'community/aws'].map((name) => `ansible_collections/${name}/`)

const UNPACK = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    wheel.extractall(sys.argv[2], [name for name in wheel.namelist() if name.startswith(tuple(sys.argv[3:]))])
`

/** undefined: there is none. */
export function ansiblePython(): string | undefined {
  const module = 'ansible_collections.community.aws.plugins.modules.sqs_queue'
  return pythonWith({ name: 'ansible', packages: PACKAGES, module, complete: unpackCollections })
}

function unpackCollections(python: string, folder: string): void {
  const wheels = join(folder, 'wheels')
  pip(python, ['download', '--no-deps', '--dest', wheels, ANSIBLE])
  const [wheel = ''] = readdirSync(wheels)
  const where = ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))']
  const packages = execFileSync(python, where, { encoding: 'utf8' }).trim()
  execFileSync(python, ['-c', UNPACK, join(wheels, wheel), packages, ...COLLECTIONS])
  rmSync(wheels, { recursive: true })
}
