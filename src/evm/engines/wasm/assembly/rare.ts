/* Opcodes that are not in the interpreter's loop: they work on the record of their frame. */
import { call } from "./calls";
import { create } from "./creations";
import { copyBytes, copyForeignCode, copyMemory, log } from "./copies";
import { selfDestruct } from "./destruction";
import { failFor, INVALID_OPCODE } from "./status";

/** Runs an opcode; returns its end. */
export function rare(op: u32): i32 {
  switch (op) {
    case 0x37:
    case 0x39:
    case 0x3e: return copyBytes(op);
    case 0x3c: return copyForeignCode();
    case 0x5e: return copyMemory();
    case 0xa0:
    case 0xa1:
    case 0xa2:
    case 0xa3:
    case 0xa4: return log(op);
    case 0xf0:
    case 0xf5: return create(op);
    case 0xf1:
    case 0xf2:
    case 0xf4:
    case 0xfa: return call(op);
    case 0xff: return selfDestruct();
  }
  return failFor(INVALID_OPCODE);
}
