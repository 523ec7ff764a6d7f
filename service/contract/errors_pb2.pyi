from sodafountain.v1.errors_pb2 import *
