import { EMPTY_BYTES } from '../../../util/bytes.ts'
import { endCall } from './calls.ts'
import { depositCode, endCreation } from './creations.ts'
import type { Execution } from './execution.ts'
import { FAULTS } from './fault.ts'
import type { Frame } from './frame.ts'

/** Ends a frame: keeps or reverts its effects, and resumes the frame that opened it. */
export const leaveFrame = (vm: Execution, frame: Frame): void => {
  const { context, marks, parent, workspace } = frame
  if (context.isCreation && frame.fault === undefined) frame.fault = depositCode(vm, frame)
  const { fault } = frame
  if (fault !== undefined) {
    vm.revert(marks)
    if (fault !== FAULTS.revert) {
      frame.gasLeft = 0n
      frame.output = EMPTY_BYTES
    }
  }
  vm.workspaces.giveBack(workspace)
  const gasLeft = frame.spareGas === 0n ? frame.gas : frame.gasLeft
  if (context.isCreation) endCreation(vm, parent, gasLeft, frame.output, fault, context.address)
  else endCall(vm, parent, gasLeft, frame.output, fault)
}
