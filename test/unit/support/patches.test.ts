import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { MUTANTS } from '../../sim/mutants/mutants.ts'
import { BYZANTINE_PATCHES } from '../../support/hostile/byzantine-patches.ts'
import type { Patch } from '../../support/patch.ts'

const SRC = new URL('../../../src/', import.meta.url)

const misfits = (patches: readonly Patch[]): readonly string[] =>
  patches.flatMap(({ file, find }) => {
    const count = readFileSync(new URL(file, SRC), 'utf8').split(find).length - 1
    return count === 1 ? [] : [`${file} holds ${count} times: ${find}`]
  })

test('every patch of a mutant fits its source once', () => {
  const patches = Object.values(MUTANTS).flatMap(({ patches }) => patches as readonly Patch[])
  expect(patches.length).toBeGreaterThan(40)
  expect(misfits(patches)).toEqual([])
})

test('every patch of the Byzantine node fits its source once', () => {
  expect(BYZANTINE_PATCHES.length).toBeGreaterThan(4)
  expect(misfits(BYZANTINE_PATCHES)).toEqual([])
})
