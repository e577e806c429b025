"""Moses for lscfg: conversion of files, and running the decoder."""
