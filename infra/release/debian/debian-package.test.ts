import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { onPath } from '../../bootstrap/steps.mjs'
import { arArchive } from './ar-archive.mjs'
import { writeDebianPackage } from './debian-package.mjs'
import { manPage } from './man-page.mjs'

const INFRA = fileURLToPath(new URL('../../', import.meta.url))
const RELEASE = { version: '1.2.3', mtime: 1_700_000_000, maintainer: 'Fantail <fantail@example.com>' }
const LAUNCHER =
  "#!/usr/bin/env node\nconsole.log('usage: fantail COMMAND\\n\\n  keys list  API keys\\n\\nFlags: --json')\n"
const work = mkdtempSync(join(tmpdir(), 'fantail-deb-'))

afterAll(() => rmSync(work, { recursive: true }))

/** A server's folder, with a small file in place of Node. */
function treeIn(name: string): string {
  const tree = join(work, name)
  const files: [string, string, number?][] = [
    ['bin/node', '', 0o755],
    ['bin/fantail', '', 0o755],
    ['bin/fantail.mjs', LAUNCHER, 0o755],
    ['docs/guides/operate.md', '# Run it\n'],
    ['CHANGELOG.md', ''],
    ['README.md', ''],
    ['SECURITY.md', ''],
    ['.env.example', ''],
    ['LICENSE', ''],
    ['LICENSE.node', ''],
    ['server/THIRD-PARTY-LICENSES.txt', ''],
    ['server/cli.mjs', '', 0o600],
  ]
  for (const [path, text, mode = 0o644] of files) {
    mkdirSync(dirname(join(tree, path)), { recursive: true })
    writeFileSync(join(tree, path), text, { mode })
  }
  cpSync(join(INFRA, 'systemd'), join(tree, 'systemd'), { recursive: true })
  rmSync(join(tree, 'systemd/fantail.env'))
  mkdirSync(join(tree, 'etc'))
  cpSync(join(INFRA, 'redis/redis.conf'), join(tree, 'etc/redis.conf'))
  cpSync(join(INFRA, 'systemd/fantail.env'), join(tree, 'etc/fantail.env'))
  return tree
}

function packageOf(name: string): Promise<string> {
  mkdirSync(join(work, `${name}.out`))
  return writeDebianPackage(join(work, `${name}.out`), { ...RELEASE, tree: treeIn(name), arch: 'amd64' })
}

test('two Debian packages of the same files are the same bytes', async () => {
  const [first, second] = [await packageOf('first'), await packageOf('second')]
  expect(first).toMatch(/fantail_1\.2\.3_amd64\.deb$/)
  expect(readFileSync(first).equals(readFileSync(second))).toBe(true)
})

test.skipIf(!onPath('dpkg-deb', process.env.PATH))(
  'dpkg reads fields, modes and scripts of the package, and its units name its own places',
  async () => {
    const deb = await packageOf('read')
    const ask = (...words: string[]) => execFileSync('dpkg-deb', words, { encoding: 'utf8' })
    const fields = ask('--field', deb, 'Package', 'Version', 'Architecture', 'Maintainer').trim().split('\n')
    expect(fields).toEqual([
      'Package: fantail',
      'Version: 1.2.3',
      'Architecture: amd64',
      `Maintainer: ${RELEASE.maintainer}`,
    ])
    const files = ask('--contents', deb)
      .trim()
      .split('\n')
      .map((line) => line.replace(/^(\S+) (\S+) .*\d\d:\d\d (.*)$/, '$1 $2 $3'))
    expect(files.filter((line) => !/ root\/root \.\//.test(line))).toEqual([])
    const unit = (name: string) => `-rw-r--r-- root/root ./usr/lib/systemd/system/${name}.service`
    const units = ['fantail', 'fantail-api', 'fantail-redis', 'fantail-redrive', 'fantail-worker@'].map(unit)
    expect(files).toEqual(
      expect.arrayContaining([
        ...units,
        '-rw-r--r-- root/root ./etc/fantail/redis.conf',
        '-rwxr-xr-x root/root ./usr/lib/fantail/bin/node',
        '-rw-r--r-- root/root ./usr/lib/fantail/server/cli.mjs',
        '-rw-r--r-- root/root ./usr/share/doc/fantail/docs/guides/operate.md',
        ...['README.md', 'SECURITY.md', 'CHANGELOG.md', '.env.example'].map(
          (name) => `-rw-r--r-- root/root ./usr/share/doc/fantail/${name}`,
        ),
        'lrwxrwxrwx root/root ./usr/bin/fantail -> ../lib/fantail/bin/fantail',
      ]),
    )
    ask('--raw-extract', deb, join(work, 'unpacked'))
    const textOf = (path: string) => readFileSync(join(work, 'unpacked', path), 'utf8')
    expect(textOf('DEBIAN/conffiles')).toBe('/etc/fantail/redis.conf\n')
    for (const line of units) expect(textOf(line.replace(/^.*\.\//, ''))).not.toContain('/opt/')
    for (const script of ['postinst', 'prerm', 'postrm']) {
      execFileSync('sh', ['-n', join(work, 'unpacked/DEBIAN', script)])
    }
    execFileSync('md5sum', ['--quiet', '--check', 'DEBIAN/md5sums'], { cwd: join(work, 'unpacked') })
  },
)

test('the manual page has every command of the help', () => {
  const help = execFileSync(process.execPath, [join(INFRA, 'bin/fantail.mjs'), '--help'], {
    encoding: 'utf8',
  })
  const page = manPage(help, { version: '1.2.3', date: '2026-01-31' })
  expect(page.match(/^\.TP\n\.B topics list .*\ntopics and their settings$/m)).not.toBeNull()
  expect(page.split('\n.TP\n').length).toBeGreaterThan(30)
})

test('a long member is refused in an ar archive', () => {
  const name = 'x'.repeat(16)
  expect(() => arArchive([{ name, content: Buffer.alloc(0) }], 0)).toThrow(`${name} is too long`)
})
