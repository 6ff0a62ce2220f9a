// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.13;

/// The part of forge's cheat codes that the default projects use.
interface Vm {
    function startBroadcast() external;
    function stopBroadcast() external;
    function expectRevert() external;
}

abstract contract Script {
    Vm internal constant vm = Vm(0x7109709ECfa91a80626fF3989D68f67F5b1DD12D);
}
