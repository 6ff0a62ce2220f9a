// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// The part of forge's cheat codes used here: forge-std is no npm package.
interface Vm {
    function startBroadcast() external;
    function stopBroadcast() external;
}

Vm constant vm = Vm(0x7109709ECfa91a80626fF3989D68f67F5b1DD12D);
