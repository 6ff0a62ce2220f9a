import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { TestSpecification } from 'vitest/node'
import { SECONDS, sideBySide } from '../../support/longest-first.ts'
import { ROOT } from '../../support/node-process.ts'

test('every file with an estimate exists', () => {
  expect(Object.keys(SECONDS).filter(name => !existsSync(join(ROOT, 'test', `${name}.test.ts`)))).toEqual([])
})

test('the longest files begin: two of processes beside one of the others, and the others go on beside them', () => {
  const specs = ['e2e/a', 'unit/b', 'unit/c', 'e2e/devnet-cli', 'sim/swarm', 'e2e/pages', 'unit/d', 'e2e/hardhat'].map(
    path =>
      ({
        moduleId: join(ROOT, 'test', `${path}.test.ts`),
        project: { name: path.split('/')[0], config: { maxWorkers: 3 } },
      }) as unknown as TestSpecification,
  )
  const names = sideBySide(specs).map(({ moduleId }) => moduleId.replace(/^.*\/test\/|\.test\.ts$/g, ''))
  expect(names).toEqual([
    ...['e2e/devnet-cli', 'e2e/pages', 'sim/swarm', 'unit/b', 'unit/c', 'unit/d', 'e2e/hardhat', 'e2e/a'],
  ])
})
