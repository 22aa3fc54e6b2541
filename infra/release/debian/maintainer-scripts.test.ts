/** Runs the scripts of the Debian package in a folder in place of `/`, and records the programs that they run. */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'

const root = mkdtempSync(join(tmpdir(), 'fantail-scripts-'))
afterAll(() => rmSync(root, { recursive: true }))

const ENV = join(root, 'etc/fantail/fantail.env')
const PROGRAMS = join(root, 'bin')
const RECORD = join(root, 'programs')
/** They change the machine, so they are only recorded. */
const RECORDED = ['adduser', 'chgrp', 'deb-systemd-helper']
const RUN = ['base64', 'chmod', 'head', 'mv', 'rm', 'sed']

for (const folder of [PROGRAMS, join(root, 'etc/fantail'), join(root, 'usr/lib/fantail/etc')])
  mkdirSync(folder, { recursive: true })
const template = readFileSync(new URL('../../systemd/fantail.env', import.meta.url))
writeFileSync(join(root, 'usr/lib/fantail/etc/fantail.env'), template)
for (const name of [...RECORDED, ...RUN]) {
  const run = RUN.includes(name) ? `PATH=/usr/bin:/bin; exec ${name} "$@"` : ''
  writeFileSync(join(PROGRAMS, name), `#!/bin/sh\necho "${name} $*" >> ${RECORD}\n${run}\n`)
  chmodSync(join(PROGRAMS, name), 0o755)
}

/** Returns a line for each program that ran, with its arguments. */
function programsOf(script: string, ...args: string[]): string[] {
  const own = readFileSync(new URL(script, import.meta.url), 'utf8')
  writeFileSync(RECORD, '')
  const moved = own.replaceAll(/(?<=[\s=>"])\/(?=(etc|run|usr|var)\/)/g, `${root}/`)
  execFileSync('/bin/sh', ['-s', ...args], { input: moved, env: { PATH: PROGRAMS } })
  return readFileSync(RECORD, 'utf8').split('\n')
}

const unitsOf = (programs: string[], verb: string) =>
  programs.filter((line) => line.startsWith(`deb-systemd-helper ${verb} `)).map((line) => line.split(' ')[2])

test('an installation makes a master key that no program has among its arguments', () => {
  const programs = programsOf('postinst', 'configure', '')
  const key = /^FANTAIL_MASTER_KEY=(.*)$/m.exec(readFileSync(ENV, 'utf8'))?.[1] ?? ''
  expect(Buffer.from(key, 'base64')).toHaveLength(32)
  expect(programs.filter((line) => line.includes(key))).toEqual([])
  programsOf('postinst', 'configure', '1.2.3')
  expect(readFileSync(ENV, 'utf8')).toContain(key)
})

test('an installation after a removal unmasks every unit that the removal has masked', () => {
  const masked = unitsOf(programsOf('postrm', 'remove'), 'mask')
  expect(masked).toContain('fantail.service')
  expect(unitsOf(programsOf('postinst', 'configure', '1.2.3'), 'unmask').sort()).toEqual(masked.sort())
})

test('a purge leaves no file that the services have made', () => {
  const made = ['var/lib/fantail-redis/dump.rdb', 'var/log/fantail/audit.log', 'etc/fantail/redis.conf']
  for (const path of made) {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), '')
  }
  programsOf('postrm', 'purge')
  expect(made.filter((path) => existsSync(join(root, path, '..')))).toEqual([])
})
