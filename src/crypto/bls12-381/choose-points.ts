import { asBuffer, bytesEqual, hexToBytes } from '@tandem/base/bytes.ts'
import { firstWorking } from '../first-working.ts'
import { loadMcl } from './mcl.ts'
import { createMclPoints } from './mcl-points.ts'
import { createNativePoints } from './native-points.ts'
import { type BlsPoints, FIELD_BYTES, G1_BYTES } from './points.ts'

/** In order of preference: native code, WebAssembly (a third of its speed). */
const LADDER: readonly (() => BlsPoints | Promise<BlsPoints>)[] = [
  createNativePoints,
  async () => createMclPoints(await loadMcl()),
]

/** Returns the first that loads on this machine and gives the known answer. */
export const choosePoints = async (ladder = LADDER): Promise<BlsPoints> =>
  (await firstWorking(ladder, checkPoints, 'no library of BLS12-381 loads')).provider

let chosen: BlsPoints | undefined
let choosing: Promise<BlsPoints> | undefined

/** Points of this thread; a promise only at the first call. */
export const blsPoints = (): BlsPoints | Promise<BlsPoints> => {
  if (chosen !== undefined) return chosen
  choosing ??= choosePoints().then(points => {
    chosen = points
    return points
  })
  return choosing
}

/** Twice the generator of G1 from its encoding, and what is no point. */
const checkPoints = (points: BlsPoints): void => {
  const generator = points.decompressG1(hexToBytes(`0x${GENERATOR}`))
  const double = generator && points.addG1(generator, generator)
  const offCurve = new Uint8Array(G1_BYTES).fill(1, FIELD_BYTES - 1, FIELD_BYTES)
  const isRight =
    double !== undefined &&
    asBuffer(double.subarray(0, FIELD_BYTES)).toString('hex') === DOUBLE_X &&
    points.isInG1(double) &&
    bytesEqual(points.addG1(double, new Uint8Array(G1_BYTES)) ?? offCurve, double) &&
    points.addG1(double, offCurve) === undefined &&
    !points.isInG1(offCurve)
  if (!isRight) throw new Error(`${points.name} computes wrong results`)
}

const GENERATOR = '97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb'
const DOUBLE_X = '0572cbea904d67468808c8eb50a9450c9721db309128012543902d0ac358a62ae28f75bb8f1c7c42c39a8c5529bf0f4e'
