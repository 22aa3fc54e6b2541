import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { nextVersion, releasedChangelog, withVersion } from './release-version.mjs'
import { tarballProblems } from './tarball-checks.mjs'

test.each([
  ['0.1.0', undefined, false, '0.1.0'],
  ['0.1.0', undefined, true, '0.2.0'],
  ['1.2.3', 'patch', true, '1.2.4'],
  ['1.2.3', 'minor', true, '1.3.0'],
  ['1.2.3', 'major', true, '2.0.0'],
  ['1.2.3', '1.10.0', true, '1.10.0'],
])('after %s, %s gives another version (released: %j): %s', (current, wanted, isReleased, next) => {
  expect(nextVersion(current, wanted, isReleased)).toBe(next)
})

test('a version that is none, or older, is refused', () => {
  expect(() => nextVersion('1.2.3', 'next', true)).toThrow('a version is X.Y.Z')
  expect(() => nextVersion('1.10.0', '1.9.9', true)).toThrow('older than 1.10.0')
})

test('unreleased lines go below the new version, and an empty section is left for the next', () => {
  const before = '# Changelog\n\n## Unreleased\n\n- New: a $& b\n\n## 0.1.0 (2026-01-01)\n\n- Old\n'
  const { text, section } = releasedChangelog(before, '0.2.0', '2026-02-01')
  expect(section).toBe('- New: a $& b')
  expect(text).toBe(
    '# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-02-01)\n\n- New: a $& b\n\n## 0.1.0 (2026-01-01)\n\n- Old\n',
  )
  expect(() => releasedChangelog(text, '0.3.0', '2026-03-01')).toThrow('nothing below')
  expect(releasedChangelog('# Changelog\n\n## Unreleased\n\n- First\n', '0.1.0', '2026-01-01').section).toBe(
    '- First',
  )
})

test('every manifest, the image and the chart have the same version, and get the new one', () => {
  const root = fileURLToPath(new URL('../../', import.meta.url))
  const paths = globSync(
    [
      'package.json',
      '{packages,services}/*/package.json',
      'infra/{docker/Dockerfile,helm/fantail/Chart.yaml}',
    ],
    { cwd: root },
  )
  const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
  expect(paths.length).toBeGreaterThan(15)
  for (const path of paths) {
    const text = withVersion(path, readFileSync(root + path, 'utf8'), { from: version, to: '77.0.1' })
    expect([path, text]).toEqual([path, expect.stringContaining('77.0.1')])
    if (path.endsWith('.yaml')) expect(text).toMatch(/^version: 77.0.1\nappVersion: 77.0.1$/m)
  }
  expect(() => withVersion('package.json', '{"version": "9.9.9"}', { from: version, to: '77.0.1' })).toThrow(
    'does not name version',
  )
})

test('a tarball lacks nothing, and has nothing that is not for others', () => {
  const manifest = {
    name: '@fantail/x',
    version: '1.0.0',
    license: 'Apache-2.0',
    exports: {
      '.': { '@fantail/source': './src/index.ts', types: './dist/index.d.ts', default: './dist/index.js' },
    },
  }
  const files = ['LICENSE', 'README.md', 'package.json', 'dist/index.js', 'dist/index.d.ts']
  expect(tarballProblems(manifest, files, '1.0.0')).toEqual([])
  const wrong = { ...manifest, license: 'MIT', private: true, dependencies: { y: 'workspace:*' } }
  expect(tarballProblems(wrong, ['package.json', 'src/index.ts', 'dist/index.js'], '1.0.1')).toEqual([
    '@fantail/x is private',
    '@fantail/x has version 1.0.0',
    '@fantail/x has the licence MIT, not Apache-2.0',
    '@fantail/x has no LICENSE',
    '@fantail/x has no README.md',
    '@fantail/x names dist/index.d.ts, which is not in it',
    '@fantail/x has src/index.ts',
    '@fantail/x depends on y workspace:*',
  ])
  expect(tarballProblems({ ...manifest, exports: {} }, files, '1.0.0')).toEqual([
    '@fantail/x has neither exports nor bin',
  ])
  expect(tarballProblems({ ...manifest, name: 'x' }, files, '1.0.0')).toEqual(['x is not below @fantail'])
})
