import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/* Every metric stands on a page of docs, with its meaning for an operator. */

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const textsOf = (folder: string, ending: string): readonly string[] =>
  readdirSync(`${ROOT}/${folder}`, { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith(ending))
    .map(path => readFileSync(`${ROOT}/${folder}/${path}`, 'utf8'))

/** A name in quotes at the place of a metric's name: a member of its options, or the first argument of a part's own helper. */
const DECLARED = /(?:name: |[gG]auge\(|counted\(|\[)\s*'([a-z][a-z0-9]*(?:_[a-z0-9]+)+)'/g
const declaredIn = (source: string): readonly string[] =>
  /metrics/i.test(source) ? [...source.matchAll(DECLARED)].map(([, name]) => name as string) : []

const PARTS =
  /^(chain|consensus|evm|explorer|faucet|mining|network|powchain|process|rpc|state|storage|stratum|sync|txpool)_/

test('every metric is described on a page', () => {
  const names = new Set(textsOf('src', '.ts').flatMap(declaredIn))
  const metrics = [...names].filter(name => PARTS.test(name))
  expect(metrics.length).toBeGreaterThan(90)
  const pages = textsOf('docs', '.md').join('\n')
  expect(metrics.filter(name => !new RegExp(`\`${name}[\`{]`).test(pages))).toEqual([])
})

test('a declaration is found in each of its forms', () => {
  const source = `
    metrics.counter({ name: 'txpool_one_total', help: '' })
    metrics.readGauge('txpool_two_bytes', '', read)
    counted(
      'txpool_three_total', '')
    const HELP = { a: ['txpool_four_total', ''] }`
  expect(declaredIn(source)).toEqual([
    'txpool_one_total',
    'txpool_two_bytes',
    'txpool_three_total',
    'txpool_four_total',
  ])
})
