import { EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { endCall } from '../calls.ts'
import { endCreation, settleCreation } from '../creations.ts'
import { FAULTS } from '../fault.ts'
import { END, type Frame, type Signal, WAIT } from '../frame/frame.ts'
import type { Execution } from '../transaction/execution.ts'
import { gasFault, stackFault } from './fault-order.ts'

/** Expensive opcodes count for more than one clock step: one per so much gas. */
const DEAR_GAS = 2_048
const GAS_PER_STEP = 64
const STOP = 0

/** Runs a frame until it ends, opens another one, or has to wait. */
const runFrame = (vm: Execution, frame: Frame): Signal => {
  const { clock, table } = vm
  const { fixed, prices, run, least, most } = table
  const { bytes } = frame.code
  const size = bytes.byteLength
  for (;;) {
    const { pc, height } = frame
    // Code has an implicit STOP at its end.
    const op = pc < size ? (bytes[pc] as number) : STOP
    if (height < (least[op] as number)) return frame.fail(stackFault(frame, op, vm, FAULTS.stackUnderflow))
    if (height > (most[op] as number)) return frame.fail(stackFault(frame, op, vm, FAULTS.stackOverflow))
    const price = prices[op]
    let cost = fixed[op] as number
    frame.op = op
    if (price !== undefined) {
      const dynamic = price(frame, vm)
      if (dynamic < 0) return WAIT
      cost += dynamic
      if (cost > DEAR_GAS) clock.steps -= cost / GAS_PER_STEP
    }
    frame.gas -= cost
    if (frame.gas < 0 && !frame.refill()) return frame.fail(gasFault(frame, op))
    frame.pc = pc + 1
    const signal = run[op]?.(frame, vm)
    if (signal !== undefined) return signal
    if (--clock.steps < 0) {
      const pause = vm.check(frame)
      if (pause !== undefined) {
        vm.pending = pause
        return WAIT
      }
    }
  }
}

/** Runs a message's frames until it has ended or has to wait. */
export const runFrames = (vm: Execution, runOne: (vm: Execution, frame: Frame) => Signal = runFrame): void => {
  for (let { frame } = vm; frame !== undefined; frame = vm.frame) {
    const signal = runOne(vm, frame)
    if (signal === WAIT) return
    if (signal === END) leaveFrame(vm, frame)
  }
}

/** Ends a frame: keeps or reverts its effects, and resumes the frame that opened it. */
const leaveFrame = (vm: Execution, frame: Frame): void => {
  const { context, marks, parent, workspace } = frame
  if (context.isCreation) frame.fault = settleCreation(vm, frame)
  const { fault } = frame
  if (fault !== undefined) {
    vm.revert(marks)
    if (fault !== FAULTS.revert) {
      frame.gasLeft = 0n
      frame.output = EMPTY_BYTES
    }
  }
  vm.workspaces.releaseMachine(workspace)
  const gasLeft = frame.spareGas === 0n ? frame.gas : frame.gasLeft
  if (context.isCreation) endCreation(vm, parent, gasLeft, frame.output, fault, context.address)
  else endCall(vm, parent, gasLeft, frame.output, fault)
}
