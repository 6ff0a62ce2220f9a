/** Refund counter of the message; below zero only between two changes of a slot. */
export let refund: i64 = 0;
export function setRefund(value: i64): void { refund = value; }
export function addRefund(change: i64): void { refund += change; }
