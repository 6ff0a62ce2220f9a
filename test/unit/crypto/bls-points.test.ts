import { expect, test } from 'vitest'
import { blsPoints, choosePoints, createMclPoints } from '../../../src/crypto/bls12-381/choose-points.ts'
import { loadMcl } from '../../../src/crypto/bls12-381/mcl.ts'

const mclPoints = async () => createMclPoints(await loadMcl())

test('native code is chosen where its addon loads, once', async () => {
  const points = await blsPoints()
  if (process.arch === 'x64' && process.platform === 'linux') expect(points.name).toBe('blst-native')
  expect(blsPoints()).toBe(points)
})

test('mcl is taken where the addon does not load or computes wrongly', async () => {
  const missing = (): never => {
    throw new Error('no addon for this platform')
  }
  expect((await choosePoints([missing, mclPoints])).name).toBe('mcl-wasm')
  const right = await mclPoints()
  const wrongs = [
    { ...right, addG1: () => new Uint8Array(96) },
    { ...right, addG1: (a: Uint8Array) => a },
    { ...right, isInG1: () => true },
    { ...right, isInG1: () => false },
    { ...right, decompressG1: () => undefined },
  ]
  for (const wrong of wrongs)
    expect(await choosePoints([() => ({ ...wrong, name: 'blst-native' }), mclPoints])).toMatchObject({
      name: 'mcl-wasm',
    })
  await expect(choosePoints([missing])).rejects.toThrow('no library of BLS12-381 loads')
})
