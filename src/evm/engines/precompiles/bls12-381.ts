import type { SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { asBuffer, hexToBytes } from '@tandem/base/bytes.ts'
import { blsPoints } from '../../../crypto/bls12-381/choose-points.ts'
import {
  type G1,
  type G2,
  g1Bytes,
  g1From,
  g2Bytes,
  g2From,
  loadMcl,
  type Mcl,
  mapToG1,
  mapToG2,
} from '../../../crypto/bls12-381/mcl.ts'
import { type BlsPoints, FIELD_BYTES } from '../../../crypto/bls12-381/points.ts'
import { PRECOMPILE_REASON, type PrecompileReason } from '../../failure-reasons.ts'
import { type Check, flagWord, type InputPrice, inSlices, type PrecompileOutput, type Run } from './precompile.ts'

/*
 * EIP-2537. Sums, and the checks of points for the others, are native code where it loads, mcl otherwise; multiples, pairings and maps are
 * mcl's. Work over many points is done in parts. A coordinate has 64 bytes, of which the first 16 are zero.
 */

const ENCODED_FIELD_BYTES = 64
const PADDING_BYTES = ENCODED_FIELD_BYTES - FIELD_BYTES
const G1_BYTES = 2 * ENCODED_FIELD_BYTES
const G2_BYTES = 4 * ENCODED_FIELD_BYTES
const SCALAR_BYTES = 32
const PAIR_BYTES = G1_BYTES + G2_BYTES

const PRIME = asBuffer(
  hexToBytes('0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab'),
)
const { revert, inputLength, inputEmpty, notInField, notOnCurve } = PRECOMPILE_REASON

const isPadded = (encoded: Uint8Array, from: number): boolean => {
  for (let at = from; at < from + PADDING_BYTES; at++) if (encoded[at] !== 0) return false
  return true
}

/** Field elements without their padding, or why they are none. */
const fieldsFrom = (encoded: Uint8Array, beyondPrime: PrecompileReason): PrecompileOutput => {
  const fields = new Uint8Array((encoded.byteLength / ENCODED_FIELD_BYTES) * FIELD_BYTES)
  for (let from = 0, to = 0; from < encoded.byteLength; from += ENCODED_FIELD_BYTES, to += FIELD_BYTES) {
    if (!isPadded(encoded, from)) return notOnCurve
    const field = encoded.subarray(from + PADDING_BYTES, from + ENCODED_FIELD_BYTES)
    if (PRIME.compare(field) <= 0) return beyondPrime
    fields.set(field, to)
  }
  return fields
}

/** Coordinates of a point of either group. */
const pointFrom = (encoded: Uint8Array): PrecompileOutput =>
  fieldsFrom(encoded, encoded.byteLength === G2_BYTES ? notInField : revert)

const encodeFields = (fields: Uint8Array): Uint8Array => {
  const count = fields.byteLength / FIELD_BYTES
  const encoded = new Uint8Array(count * ENCODED_FIELD_BYTES)
  for (let i = 0; i < count; i++)
    encoded.set(fields.subarray(i * FIELD_BYTES, (i + 1) * FIELD_BYTES), i * ENCODED_FIELD_BYTES + PADDING_BYTES)
  return encoded
}

/** Sum of two points, which need not be in the subgroup. */
const sum = (size: number, add: (points: BlsPoints, a: Uint8Array, b: Uint8Array) => Uint8Array | undefined): Run => {
  const compute = (points: BlsPoints, data: Uint8Array): PrecompileOutput => {
    const [a, b] = [pointFrom(data.subarray(0, size)), pointFrom(data.subarray(size))]
    if (typeof a === 'string') return a
    if (typeof b === 'string') return b
    const total = add(points, a, b)
    return total === undefined ? notOnCurve : encodeFields(total)
  }
  return (data, check) => {
    if (data.byteLength !== 2 * size) return inputLength
    const points = blsPoints()
    const pause = check()
    if (pause === undefined && !(points instanceof Promise)) return compute(points, data)
    return Promise.all([points, pause]).then(([loaded]) => compute(loaded, data))
  }
}

export const addG1 = sum(G1_BYTES, (points, a, b) => points.addG1(a, b))
export const addG2 = sum(G2_BYTES, (points, a, b) => points.addG2(a, b))

interface Loaded {
  readonly mcl: Mcl
  readonly points: BlsPoints
}
let loaded: Loaded | undefined
const load = async (check: Check): Promise<Loaded> => {
  await check()
  if (loaded === undefined) {
    const [mcl, points] = await Promise.all([loadMcl(), blsPoints()])
    loaded ??= { mcl, points }
  }
  return loaded
}

/** Map of a field element: a millisecond at most. */
const map =
  (fields: number, compute: (mcl: Mcl, fields: Uint8Array) => Uint8Array): Run =>
  async (data, check) => {
    if (data.byteLength !== fields * ENCODED_FIELD_BYTES) return inputLength
    const element = fieldsFrom(data, notInField)
    if (typeof element === 'string') return element
    const { mcl } = await load(check)
    return encodeFields(compute(mcl, element))
  }

export const mapFieldToG1 = map(1, (mcl, element) => g1Bytes(mapToG1(mcl, element)))
export const mapFieldToG2 = map(2, (mcl, element) => g2Bytes(mapToG2(mcl, element)))

/** Reads a point of the subgroup. */
const readG1 = ({ mcl, points }: Loaded, bytes: Uint8Array): G1 | PrecompileReason => {
  const point = pointFrom(bytes)
  if (typeof point === 'string') return point
  return points.isInG1(point) ? g1From(mcl, point) : notOnCurve
}
const readG2 = ({ mcl, points }: Loaded, bytes: Uint8Array): G2 | PrecompileReason => {
  const point = pointFrom(bytes)
  if (typeof point === 'string') return point
  return points.isInG2(point) ? g2From(mcl, point) : notOnCurve
}

/** True where each of so many coordinates at the start of each item is padded: all are checked before any point is read. */
const arePadded = (data: Uint8Array, itemBytes: number, coordinates: number): boolean => {
  for (let at = 0; at < data.byteLength; at += itemBytes)
    for (let i = 0; i < coordinates; i++) if (!isPadded(data, at + i * ENCODED_FIELD_BYTES)) return false
  return true
}

/** Work over items of a size, each with a point of so many coordinates first. */
const inParts =
  (
    itemBytes: number,
    coordinates: number,
    work: (loaded: Loaded, data: Uint8Array) => SlicedWork<PrecompileOutput>,
  ): Run =>
  async (data, check) => {
    if (data.byteLength % itemBytes !== 0) return inputLength
    if (!arePadded(data, itemBytes, coordinates)) return notOnCurve
    const libraries = await load(check)
    return inSlices(input => work(libraries, input))(data, check)
  }

/** Sum of points times scalars, so many points at once. */
const multiples = <Point extends G1 | G2>(
  size: number,
  atOnce: number,
  read: (loaded: Loaded, bytes: Uint8Array) => Point | PrecompileReason,
  write: (point: Point) => Uint8Array,
): Run => {
  const step = size + SCALAR_BYTES
  return inParts(step, size / ENCODED_FIELD_BYTES, function* (libraries, data) {
    const { mcl } = libraries
    let total: Point | undefined
    for (let at = 0; at < data.byteLength; ) {
      const points: Point[] = []
      const scalars: InstanceType<Mcl['Fr']>[] = []
      for (; at < data.byteLength && points.length < atOnce; at += step) {
        const point = read(libraries, data.subarray(at, at + size))
        if (typeof point === 'string') return point
        points.push(point)
        const scalar = new mcl.Fr()
        scalar.setBigEndianMod(data.subarray(at + size, at + step))
        scalars.push(scalar)
      }
      const part = mcl.mulVec(points, scalars)
      total = total === undefined ? part : mcl.add(total, part)
      yield
    }
    return total === undefined ? new Uint8Array(size) : encodeFields(write(total))
  })
}

export const multiplesG1 = multiples(G1_BYTES, 8, readG1, g1Bytes)
export const multiplesG2 = multiples(G2_BYTES, 4, readG2, g2Bytes)

export const blsPairing = inParts(PAIR_BYTES, PAIR_BYTES / ENCODED_FIELD_BYTES, function* (libraries, data) {
  const { mcl } = libraries
  let product = new mcl.GT()
  product.setInt(1)
  for (let at = 0; at < data.byteLength; at += PAIR_BYTES) {
    const left = readG1(libraries, data.subarray(at, at + G1_BYTES))
    if (typeof left === 'string') return left
    const right = readG2(libraries, data.subarray(at + G1_BYTES, at + PAIR_BYTES))
    if (typeof right === 'string') return right
    yield
    if (!left.isZero() && !right.isZero()) product = mcl.mul(product, mcl.millerLoop(left, right))
    yield
  }
  return flagWord(mcl.finalExp(product).isOne())
})

export const blsPairingPrice: InputPrice = data => {
  if (data.byteLength === 0) return inputEmpty
  return data.byteLength % PAIR_BYTES === 0 ? 37_700n + 32_600n * BigInt(data.byteLength / PAIR_BYTES) : inputLength
}

/** Price of multiples: of each a thousandth part of the product with the discount for their number, the last for more. */
const multiplesPrice = (step: number, each: bigint, table: string): InputPrice => {
  const discounts = table.split(' ').map(BigInt)
  return data => {
    if (data.byteLength === 0) return inputEmpty
    const count = Math.floor(data.byteLength / step)
    const discount = discounts[Math.min(count, discounts.length) - 1] ?? 0n
    return (BigInt(count) * each * discount) / 1_000n
  }
}

export const multiplesG1Price = multiplesPrice(
  G1_BYTES + SCALAR_BYTES,
  12_000n,
  '1000 949 848 797 764 750 738 728 719 712 705 698 692 687 682 677 673 669 665 661 658 654 651 648 645 642 640 637 635 632 630 627 ' +
    '625 623 621 619 617 615 613 611 609 608 606 604 603 601 599 598 596 595 593 592 591 589 588 586 585 584 582 581 580 579 577 576 ' +
    '575 574 573 572 570 569 568 567 566 565 564 563 562 561 560 559 558 557 556 555 554 553 552 551 550 549 548 547 547 546 545 544 ' +
    '543 542 541 540 540 539 538 537 536 536 535 534 533 532 532 531 530 529 528 528 527 526 525 525 524 523 522 522 521 520 520 519',
)
export const multiplesG2Price = multiplesPrice(
  G2_BYTES + SCALAR_BYTES,
  22_500n,
  '1000 1000 923 884 855 832 812 796 782 770 759 749 740 732 724 717 711 704 699 693 688 683 679 674 670 666 663 659 655 652 649 646 ' +
    '643 640 637 634 632 629 627 624 622 620 618 615 613 611 609 607 606 604 602 600 598 597 595 593 592 590 589 587 586 584 583 582 ' +
    '580 579 578 576 575 574 573 571 570 569 568 567 566 565 563 562 561 560 559 558 557 556 555 554 553 552 552 551 550 549 548 547 ' +
    '546 545 545 544 543 542 541 541 540 539 538 537 537 536 535 535 534 533 532 532 531 530 530 529 528 528 527 526 526 525 524 524',
)
