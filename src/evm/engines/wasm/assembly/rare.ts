/* Opcodes that are not in the interpreter's loop: they work on the record of their frame. */
import { call } from "./calls";
import { create } from "./creations";
import { copyBytes, copyForeignCode, copyMemory, log } from "./copies";
import { selfDestruct } from "./destruction";
import { failFor } from "./status";
import * as OP from "./opcodes";
import { INVALID_OPCODE } from "./layout";

/** Runs an opcode; returns its end. */
export function rare(op: u32): i32 {
  switch (op) {
    case OP.CALLDATACOPY:
    case OP.CODECOPY:
    case OP.RETURNDATACOPY: return copyBytes(op);
    case OP.EXTCODECOPY: return copyForeignCode();
    case OP.MCOPY: return copyMemory();
    case OP.LOG0:
    case OP.LOG1:
    case OP.LOG2:
    case OP.LOG3:
    case OP.LOG4: return log(op);
    case OP.CREATE:
    case OP.CREATE2: return create(op);
    case OP.CALL:
    case OP.CALLCODE:
    case OP.DELEGATECALL:
    case OP.STATICCALL: return call(op);
    case OP.SELFDESTRUCT: return selfDestruct();
  }
  return failFor(INVALID_OPCODE);
}
