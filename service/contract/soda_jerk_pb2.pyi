from sodafountain.v1.soda_jerk_pb2 import *
